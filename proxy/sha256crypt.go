package proxy

import "crypto/sha256"

// sha256Crypt hashes a password as MySQL 8 stores it for caching_sha2_password: 43 characters in crypt's own base 64.
// Source: akkadia.org/drepper/SHA-crypt.txt. MySQL uses 20 bytes of salt where that text stops at 16.
func sha256Crypt(password, salt []byte, rounds int) []byte {
	h := sha256.New()
	add := func(parts ...[]byte) []byte {
		h.Reset()
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	once := add(password, salt, password)
	parts := [][]byte{password, salt, stretch(once, len(password))}
	for n := len(password); n > 0; n >>= 1 {
		if n&1 != 0 {
			parts = append(parts, once)
		} else {
			parts = append(parts, password)
		}
	}
	digest := add(parts...)
	p := stretch(add(repeat(password, len(password))...), len(password))
	s := stretch(add(repeat(salt, 16+int(digest[0]))...), len(salt))
	for i := range rounds {
		h.Reset()
		first, last := digest, p
		if i&1 != 0 {
			first, last = p, digest
		}
		h.Write(first)
		if i%3 != 0 {
			h.Write(s)
		}
		if i%7 != 0 {
			h.Write(p)
		}
		h.Write(last)
		digest = h.Sum(digest[:0])
	}
	return cryptBase64(digest)
}

// stretch repeats digest up to n bytes.
func stretch(digest []byte, n int) []byte {
	out := make([]byte, 0, n+len(digest))
	for len(out) < n {
		out = append(out, digest...)
	}
	return out[:n]
}

func repeat(b []byte, n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = b
	}
	return all
}

// cryptBase64 encodes a digest in the byte order that crypt fixes: three bytes, thirds of the digest apart, are four
// characters.
func cryptBase64(d []byte) []byte {
	const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	out := make([]byte, 0, 44)
	put := func(bits uint32, n int) {
		for ; n > 0; n-- {
			out = append(out, alphabet[bits&0x3f])
			bits >>= 6
		}
	}
	for i, a, b, c := 0, 0, 10, 20; i < 10; i++ {
		put(uint32(d[a])<<16|uint32(d[b])<<8|uint32(d[c]), 4)
		a, b, c = c+1, a+1, b+1
	}
	put(uint32(d[31])<<8|uint32(d[30]), 3)
	return out
}
