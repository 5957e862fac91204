package proxy

import (
	"net/netip"
	"slices"
)

// networks is a set of addresses.
type networks []netip.Prefix

func parseNetworks(texts []string) (networks, error) {
	var list networks
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (n networks) contain(addr netip.Addr) bool {
	return slices.ContainsFunc(n, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}
