package proxy

import (
	"strings"

	"github.com/conntag/conntag/internal/sqlscan"
)

// create reads CREATE [OR REPLACE] TEMPORARY {TABLE | SEQUENCE} [IF NOT EXISTS] name.
func (r *effectReader) create(h []sqlscan.Token) {
	temporary := false
	for i, t := range h {
		switch {
		case t.Is("temporary"):
			temporary = true
		case t.Is("or"), t.Is("replace"), t.Is("table"), t.Is("sequence"), t.Is("if"), t.Is("not"), t.Is("exists"):
		default:
			if temporary {
				name, _ := tableName(h[i:])
				r.add(effect{kind: effectOwnState})
				r.add(effect{kind: effectCreateTemp, name: name})
			} else {
				r.add(effect{kind: effectEndTrx})
			}
			return
		}
	}
}

// drop reads DROP [TEMPORARY] {TABLE | SEQUENCE} [IF EXISTS] name, …, and DROP PREPARE name.
func (r *effectReader) drop(h []sqlscan.Token) {
	if len(h) > 1 && h[0].Is("prepare") {
		r.deallocate(h[1])
		return
	}
	r.add(effect{kind: effectOwnState})
	if !hasWord(h[:min(1, len(h))], "temporary") {
		r.add(effect{kind: effectEndTrx})
	}
	h = skipWords(h, "temporary", "table", "tables", "sequence", "if", "exists")
	begun := len(r.effects)
	for len(h) > 0 {
		name, n := tableName(h)
		r.add(effect{kind: effectDropTable, name: name})
		if h = h[n:]; len(h) == 0 || !isPunct(h[0], ',') {
			break
		}
		h = h[1:]
	}
	if len(r.effects) == begun+1 {
		r.effects[begun].alone = true
	}
}

// rename reads RENAME TABLE [IF EXISTS] name [WAIT n | NOWAIT] TO name, ….
func (r *effectReader) rename(h []sqlscan.Token) {
	r.add(effect{kind: effectOwnState})
	r.add(effect{kind: effectEndTrx})
	h = skipWords(h, "table", "tables", "if", "exists")
	for len(h) > 0 {
		from, n := tableName(h)
		h = h[n:]
		for len(h) > 0 && !h[0].Is("to") {
			h = h[1:]
		}
		if len(h) < 2 {
			return
		}
		to, n := tableName(h[1:])
		r.add(effect{kind: effectRenameTable, name: from, to: to})
		if h = h[1+n:]; len(h) == 0 || !isPunct(h[0], ',') {
			return
		}
		h = h[1:]
	}
}

// alter reads ALTER [ONLINE] [IGNORE] TABLE [IF EXISTS] name …, RENAME [TO | AS | =] name, ….
func (r *effectReader) alter(h []sqlscan.Token) {
	r.add(effect{kind: effectEndTrx})
	h = skipWords(h, "online", "offline", "ignore")
	if len(h) == 0 || !h[0].Is("table") {
		return
	}
	h = skipWords(h, "table", "if", "exists")
	if len(h) == 0 {
		return
	}
	from, n := tableName(h)
	r.add(effect{kind: effectOwnState})
	r.add(effect{kind: effectChangeTable, name: from})
	for i, t := range h {
		if i < n || !t.Is("rename") || i > n && !isPunct(h[i-1], ',') {
			continue
		}
		rest := h[i+1:]
		if len(rest) > 0 && (rest[0].Is("column") || rest[0].Is("index") || rest[0].Is("key")) {
			continue
		}
		if len(rest) > 0 && isPunct(rest[0], '=') {
			rest = rest[1:]
		}
		if rest = skipWords(rest, "to", "as"); len(rest) > 0 {
			to, _ := tableName(rest)
			r.add(effect{kind: effectRenameTable, name: from, to: to})
		}
	}
}

// truncate reads TRUNCATE [TABLE] name.
func (r *effectReader) truncate(h []sqlscan.Token) {
	r.add(effect{kind: effectEndTrx})
	if h = skipWords(h, "table"); len(h) > 0 {
		name, _ := tableName(h)
		r.add(effect{kind: effectChangeTable, name: name})
	}
}

// handler reads HANDLER name OPEN [[AS] alias], and HANDLER alias {READ … | CLOSE}. The alias is the table's bare name by
// default. The server compares aliases without case.
func (r *effectReader) handler(h []sqlscan.Token) {
	if len(h) < 2 {
		return
	}
	name, n := tableName(h)
	alias := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	h = h[n:]
	switch {
	case len(h) == 0:
	case h[0].Is("open"):
		if rest := skipWords(h[1:], "as"); len(rest) > 0 {
			alias = strings.ToLower(rest[0].Ident())
		}
		r.add(effect{kind: effectHandlerOpen, name: name, to: alias})
	default:
		r.add(effect{kind: effectHandlerUse, to: alias, end: h[0].Is("close")})
	}
}

// skipWords steps over the given words at the front, in any order.
func skipWords(h []sqlscan.Token, words ...string) []sqlscan.Token {
next:
	for len(h) > 0 {
		for _, w := range words {
			if h[0].Is(w) {
				h = h[1:]
				continue next
			}
		}
		break
	}
	return h
}

// tableName reads name or schema.name and returns it as schema.name, with an empty schema for the current one, and
// how many tokens it took.
func tableName(h []sqlscan.Token) (name string, n int) {
	if len(h) >= 3 && isPunct(h[1], '.') {
		return h[0].Ident() + "." + h[2].Ident(), 3
	}
	return "." + h[0].Ident(), 1
}
