package proxy

import (
	"encoding/hex"
	"testing"
)

// Vectors: what glibc's crypt says, and hashcat's example for mode 7401, "MySQL $A$ (sha256crypt)".
func TestSHA256CryptMatchesKnownHashes(t *testing.T) {
	mysqlSalt, err := hex.DecodeString("F9CC98CE08892924F50A213B6BC571A2C11778C5")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		password, salt, want string
		rounds               int
	}{
		{"Hello world!", "saltstring", "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5", 5000},
		{"Hello world!", "saltstringsaltst", "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA", 10000},
		{"This is just a test", "toolongsaltstrin", "Un/5jzAHMgOGZ5.mWJpuVolil07guHPvOW8mGRcvxa5", 5000},
		{"a very much longer text to encrypt.  This one even stretches over morethan one line.", "anotherlongsalts",
			"Rx.j8H.h8HjEDGomFU8bDkXm3XIUnzyxf12oP84Bnq1", 1400},
		{"", "s", "u9jS/E6rlpZoj8KCMVhpLKJh2MrO5hc9UBdfKCcvVU7", 5000},
		{"hashcat", string(mysqlSalt), "bTy95Y99eAME1dwEkHOA1ndHGBWz.1bxSSRkuTXFGV/", 5000},
	}
	for _, c := range cases {
		if got := sha256Crypt([]byte(c.password), []byte(c.salt), c.rounds); string(got) != c.want {
			t.Errorf("%q: got %s, want %s", c.password, got, c.want)
		}
	}
}
