package attribution

import (
	"maps"
	"sync"
	"sync/atomic"
)

// OtherName is the caller to which names beyond the cap are folded. Tags cannot spell it: names that begin with two
// underscores are reserved.
const OtherName = "__other__"

// Ledger is the bounded table of the accounts of one pool. Callers are admitted first come, first served and never
// evicted: a flood of unique names fills what is left and then goes to OtherName, but cannot push out a caller that is
// there. Names in Config.Callers always have an account.
//
// Locks: cutting, then the meters of a cut, then admitting. Only Cut takes more than one.
type Ledger struct {
	other *Account

	// known is replaced, never written: a look-up takes no lock. full is set after the last replacement.
	known  atomic.Pointer[map[string]*Account]
	full   atomic.Bool
	folded atomic.Uint64

	admitting sync.Mutex // guards accounts, room and replacing known
	accounts  []*Account // grows only; an account's slot is its index
	room      int        // how many more names are admitted

	cutting sync.Mutex // two cuts that locked the same meters in another order would wait for each other
}

// NewLedger makes a ledger whose configured callers stand at zero, so that their first increase is seen by rate().
func NewLedger(cfg Config) *Ledger {
	l := &Ledger{room: len(cfg.Callers) + 1}
	known := map[string]*Account{}
	l.known.Store(&known)
	l.other = l.admit(OtherName)
	for _, name := range cfg.Callers {
		l.admit(name)
	}
	l.room = cfg.MaxCallers
	l.full.Store(l.room <= 0)
	return l
}

// Account gives the account of a cleaned, non-empty name, admitting it when there is room, and the OtherName account
// when there is none. It keeps no reference to name and allocates only to admit.
func (l *Ledger) Account(name []byte) *Account {
	full := l.full.Load() // before the look-up: once it is true, known is final and a miss is a miss
	if a, ok := (*l.known.Load())[string(name)]; ok {
		return a
	}
	if !full && len(name) > 0 {
		if a := l.admit(string(name)); a != nil {
			return a
		}
	}
	l.folded.Add(1)
	return l.other
}

// admit gives the account of name, making it when there is room; nil when there is not.
func (l *Ledger) admit(name string) *Account {
	l.admitting.Lock()
	defer l.admitting.Unlock()
	known := *l.known.Load()
	if a, ok := known[name]; ok {
		return a
	}
	if l.room <= 0 {
		return nil
	}
	a := &Account{name: name, slot: len(l.accounts)}
	l.accounts = append(l.accounts, a)
	l.room--
	grown := make(map[string]*Account, len(known)+1)
	maps.Copy(grown, known)
	grown[name] = a
	l.known.Store(&grown)
	l.full.Store(l.room == 0)
	return a
}
