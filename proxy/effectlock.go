package proxy

import (
	"bytes"

	"github.com/conntag/conntag/internal/sqlscan"
)

// tableLocks are the locks that LOCK, FLUSH and BACKUP take; all of them pin as tables_locked.
type tableLocks byte

const (
	locksTables tableLocks = 1 << iota // LOCK TABLES, FLUSH TABLES t WITH READ LOCK: START TRANSACTION ends them
	locksGlobal                        // FLUSH TABLES WITH READ LOCK: only UNLOCK TABLES ends it
	locksStage                         // BACKUP STAGE
	locksBackup                        // BACKUP LOCK, LOCK INSTANCE
)

// tableLocks reads LOCK, UNLOCK, FLUSH … LOCK and BACKUP.
func (r *effectReader) tableLocks(h []sqlscan.Token) {
	word := func(i int, w string) bool { return i < len(h) && h[i].Is(w) }
	kind, locks := effectLock, locksTables
	switch {
	case word(0, "unlock") && word(1, "instance"), word(0, "backup") && word(1, "unlock"):
		kind, locks = effectUnlock, locksBackup
	case word(0, "unlock"):
		kind, locks = effectUnlock, locksTables|locksGlobal
	case word(0, "backup") && word(1, "stage") && word(2, "end"):
		kind, locks = effectUnlock, locksStage
	case word(0, "backup") && word(1, "stage"):
		locks = locksStage
	case word(0, "backup"), word(1, "instance"):
		locks = locksBackup
	case word(0, "lock"):
	case !hasWord(h, "lock") && !hasWord(h, "export"):
		return
	default: // FLUSH [NO_WRITE_TO_BINLOG | LOCAL] TABLES [t, …] {WITH READ LOCK | FOR EXPORT}
		i := 1
		if word(i, "local") || word(i, "no_write_to_binlog") {
			i++
		}
		if word(i+1, "with") {
			locks = locksGlobal
		}
	}
	r.add(effect{kind: kind, locks: locks})
}

// call looks for the lock functions. Only a plain literal name, evaluated once, is known.
func (r *effectReader) call(t sqlscan.Token, lex sqlscan.Lexer) {
	is := func(w string) bool { return bytes.EqualFold(t.Text, []byte(w)) }
	get, release, all := is("get_lock"), is("release_lock"), is("release_all_locks")
	services := is("service_get_read_locks") || is("service_get_write_locks")
	if !get && !release && !all && !services || !isPunct(lex.Next(), '(') {
		return
	}
	arg := lex.Next()
	after := lex.Next()
	name := ""
	if arg.Kind == sqlscan.TokenString && plain(arg.Text) && (isPunct(after, ',') || isPunct(after, ')')) {
		name = string(arg.Text)
	}
	switch {
	case services:
		r.add(effect{kind: effectGetLock, whether: true})
	case get:
		r.add(effect{kind: effectGetLock, name: name, whether: true})
	case release:
		r.add(effect{kind: effectReleaseLock, name: name, whether: true})
	default:
		r.add(effect{kind: effectReleaseAll})
	}
}

// plain reports whether the inside of a literal means the same in every character set and sql_mode.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '\\' || c == '\'' || c == '"' {
			return false
		}
	}
	return len(text) > 0
}
