package config

import (
	"fmt"
	"os"
	"strings"

	"github.com/conntag/conntag/proxy"
)

// maxPasswordFile is well above any password and well below a file that was named by mistake.
const maxPasswordFile = 4096

// readable reports a file that is named but cannot be used, so that `conntag check` finds it before a start does.
func (d *decoder) readable(path, file string) {
	f, err := os.Open(file)
	if err != nil {
		d.add(path, "%s: %s; relative paths start at the directory of the configuration file", file, reason(err))
		return
	}
	defer func() { _ = f.Close() }() // nothing was written
	if st, err := f.Stat(); err == nil && st.IsDir() {
		d.add(path, "%s: is a directory; name a file", file)
	}
}

// readPasswords fills in what users keep in files.
func (d *decoder) readPasswords(users []proxy.User) {
	for i := range users {
		u := &users[i]
		d.readPassword(fmt.Sprintf("users.%d.password_file", i), u.PasswordFile, &u.Password)
		d.readPassword(fmt.Sprintf("users.%d.backend_password_file", i), u.BackendPasswordFile, &u.BackendPassword)
	}
}

// readPassword takes a file's content less one final line break, which editors and `echo` add.
func (d *decoder) readPassword(path, file string, into *string) {
	if file == "" {
		return
	}
	plain := strings.TrimSuffix(path, "_file")
	if *into != "" {
		d.add(path, "given beside %s; keep one of the two", plain[strings.LastIndexByte(plain, '.')+1:])
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		d.add(path, "%s: %s; name a readable file", file, reason(err)) // dropped when readable said so before
		return
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	switch {
	case password == "":
		d.add(path, "%s: is empty; write the password into it", file)
	case len(password) > maxPasswordFile:
		d.add(path, "%s: holds %d bytes, more than %d; name the file with the password", file, len(password), maxPasswordFile)
	default:
		*into = password
	}
}
