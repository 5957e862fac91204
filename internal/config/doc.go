// Package config reads conntag's one YAML file into the Config types that the other packages own.
//
// Load starts from the defaults, writes the file over them and asks every section whether it makes sense.
// It is strict: a key that nobody knows, a value of the wrong kind, a key given twice or a duration without
// a unit is a problem, and all problems of a file come back at once, each with its line:
//
//	conntag.yaml:12: pool.sise: unknown key; did you mean "size"?
//
// Text may hold ${NAME}, which becomes that environment variable ($${ is a literal ${). Paths in keys that
// end in _file are relative to the directory of the configuration file.
package config
