package demo

import (
	"math"
	"testing"
)

func TestClientsAreSharedOutByWeight(t *testing.T) {
	weights := 0
	for _, k := range callers {
		weights += k.weight
	}
	for clients := len(callers); clients <= maxClients; clients++ {
		sum := 0
		for i, n := range shareOut(clients) {
			sum += n
			fair := float64(clients*callers[i].weight) / float64(weights)
			if n < 1 || math.Abs(float64(n)-fair) > 2.5 {
				t.Errorf("%d clients: %s has %d, fair were %.1f", clients, callers[i].name, n, fair)
			}
		}
		if sum != clients {
			t.Errorf("%d clients were shared out of %d", sum, clients)
		}
	}
	for i, n := range shareOut(DefaultClients) {
		if n != callers[i].weight {
			t.Errorf("by default %s has %d clients, want its weight %d", callers[i].name, n, callers[i].weight)
		}
	}
}
