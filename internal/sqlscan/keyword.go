package sqlscan

import "strings"

// Keyword is one of the words that decide what a proxy does with a statement.
type Keyword uint8

// KeywordNone means that there is no word, KeywordOther that there is one which decides nothing. Statement and Temporary carry
// the prefix because their plain names are a type and a flag.
const (
	KeywordNone Keyword = iota
	KeywordOther
	KeywordStatement
	KeywordTemporary
	Alter
	Analyze
	And
	Backup
	Begin
	Binlog
	Call
	Change
	Character
	Charset
	Check
	Checksum
	Commit
	Connection
	Count
	Create
	Current
	Data
	Deallocate
	Default
	Delete
	Desc
	Describe
	Do
	Drop
	End
	Execute
	Explain
	Flush
	From
	Function
	Get
	Global
	Grant
	Handler
	Hard
	Immediate
	Insert
	Instance
	Into
	Isolation
	Kill
	Load
	Local
	Lock
	Names
	No
	Not
	Optimize
	Or
	Password
	Persist
	Prepare
	Procedure
	Purge
	Query
	Read
	Recover
	Release
	Rename
	Repair
	Replace
	Reset
	Revoke
	Role
	Rollback
	Savepoint
	Select
	Session
	Set
	Show
	Shutdown
	Soft
	Stacked
	Start
	Status
	Stop
	Table
	Tables
	To
	Transaction
	Truncate
	Unlock
	Update
	Use
	User
	Values
	Variables
	With
	Work
	XA
	numKeywords
)

var keywords = [numKeywords]string{
	KeywordNone: "", KeywordOther: "", KeywordStatement: "STATEMENT", KeywordTemporary: "TEMPORARY",
	Alter: "ALTER", Analyze: "ANALYZE", And: "AND", Backup: "BACKUP", Begin: "BEGIN", Binlog: "BINLOG", Call: "CALL",
	Change: "CHANGE", Character: "CHARACTER", Charset: "CHARSET", Check: "CHECK", Checksum: "CHECKSUM", Commit: "COMMIT",
	Connection: "CONNECTION", Count: "COUNT", Create: "CREATE", Current: "CURRENT", Data: "DATA", Deallocate: "DEALLOCATE",
	Default: "DEFAULT", Delete: "DELETE", Desc: "DESC", Describe: "DESCRIBE", Do: "DO", Drop: "DROP", End: "END",
	Execute: "EXECUTE", Explain: "EXPLAIN", Flush: "FLUSH", From: "FROM", Function: "FUNCTION", Get: "GET", Global: "GLOBAL",
	Grant: "GRANT", Handler: "HANDLER", Hard: "HARD", Immediate: "IMMEDIATE", Insert: "INSERT", Instance: "INSTANCE",
	Into: "INTO", Isolation: "ISOLATION", Kill: "KILL", Load: "LOAD", Local: "LOCAL", Lock: "LOCK", Names: "NAMES", No: "NO",
	Not: "NOT", Optimize: "OPTIMIZE", Or: "OR", Password: "PASSWORD", Persist: "PERSIST", Prepare: "PREPARE",
	Procedure: "PROCEDURE", Purge: "PURGE", Query: "QUERY", Read: "READ", Recover: "RECOVER", Release: "RELEASE",
	Rename: "RENAME", Repair: "REPAIR", Replace: "REPLACE", Reset: "RESET", Revoke: "REVOKE", Role: "ROLE",
	Rollback: "ROLLBACK", Savepoint: "SAVEPOINT", Select: "SELECT", Session: "SESSION", Set: "SET", Show: "SHOW",
	Shutdown: "SHUTDOWN", Soft: "SOFT", Stacked: "STACKED", Start: "START", Status: "STATUS", Stop: "STOP", Table: "TABLE",
	Tables: "TABLES", To: "TO", Transaction: "TRANSACTION", Truncate: "TRUNCATE", Unlock: "UNLOCK", Update: "UPDATE",
	Use: "USE", User: "USER", Values: "VALUES", Variables: "VARIABLES", With: "WITH", Work: "WORK", XA: "XA",
}

// String gives the word in upper case, "none" or "other".
func (k Keyword) String() string {
	switch {
	case k == KeywordNone:
		return "none"
	case k == KeywordOther || k >= numKeywords:
		return "other"
	}
	return keywords[k]
}

const numSlots = 512

// keywordSlots is an open-addressed hash table over keywords, a sixth full; lowered holds the words to compare with.
var (
	lowered      [numKeywords]string
	keywordSlots = newKeywordSlots()
)

func newKeywordSlots() (slots [numSlots]Keyword) {
	for k := KeywordOther + 1; k < numKeywords; k++ {
		lowered[k] = strings.ToLower(keywords[k])
		h := keywordHash([]byte(lowered[k]))
		for slots[h] != KeywordNone {
			h = (h + 1) % numSlots
		}
		slots[h] = k
	}
	return slots
}

// keywordHash folds case by setting bit 5, which maps no other byte of a word onto a letter.
func keywordHash(word []byte) uint32 {
	n := len(word)
	first, second, last := uint32(word[0]|0x20), uint32(word[1]|0x20), uint32(word[n-1]|0x20)
	return (first*37 + second*11 + last*5 + uint32(n)*59) % numSlots
}

// keywordOf finds the keyword that word is, in any case.
func keywordOf(word []byte) Keyword {
	if len(word) < 2 {
		return KeywordOther
	}
	for h := keywordHash(word); keywordSlots[h] != KeywordNone; h = (h + 1) % numSlots {
		if k := keywordSlots[h]; equalFold(word, lowered[k]) {
			return k
		}
	}
	return KeywordOther
}
