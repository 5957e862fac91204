package mariadbtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// TLSFiles are the paths of a server's PEM files. The client pair is signed by the same CA, for mutual TLS.
type TLSFiles struct {
	CA, Cert, Key, ClientCert, ClientKey string
}

// TLSFiles returns where the certificates of a server started WithTLS are; the zero value without it.
func (i *Instance) TLSFiles() TLSFiles {
	if i.tls == nil {
		return TLSFiles{}
	}
	return *i.tls
}

// TLSConfig returns a client configuration that trusts the server's CA and checks the name 127.0.0.1. It needs WithTLS.
func (i *Instance) TLSConfig() (*tls.Config, error) {
	if i.tls == nil {
		return nil, errors.New("server was started without TLS")
	}
	ca, err := os.ReadFile(i.tls.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}, nil
}

// keyPair is a certificate with its private key.
type keyPair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func writeTLSFiles(dir string) (TLSFiles, error) {
	f := TLSFiles{
		CA:   filepath.Join(dir, "ca.pem"),
		Cert: filepath.Join(dir, "server.pem"), Key: filepath.Join(dir, "server.key"),
		ClientCert: filepath.Join(dir, "client.pem"), ClientKey: filepath.Join(dir, "client.key"),
	}
	ca, err := newKeyPair(certificate("conntag test CA", true), nil)
	if err != nil {
		return f, err
	}
	server, err := newKeyPair(certificate("conntag test server", false), &ca)
	if err != nil {
		return f, err
	}
	client, err := newKeyPair(certificate("conntag test client", false), &ca)
	if err != nil {
		return f, err
	}
	return f, errors.Join(
		writePEM(f.CA, "CERTIFICATE", ca.cert.Raw),
		server.write(f.Cert, f.Key),
		client.write(f.ClientCert, f.ClientKey),
	)
}

func certificate(name string, ca bool) *x509.Certificate {
	c := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		BasicConstraintsValid: true,
		IsCA:                  ca,
		KeyUsage:              x509.KeyUsageDigitalSignature,
	}
	if ca {
		c.KeyUsage |= x509.KeyUsageCertSign
		return c
	}
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	c.DNSNames = []string{"localhost"}
	return c
}

// newKeyPair signs c with parent's key, or with its own when parent is nil.
func newKeyPair(c *x509.Certificate, parent *keyPair) (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, err
	}
	if c.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return keyPair{}, err
	}
	issuer, signer := c, key
	if parent != nil {
		issuer, signer = parent.cert, parent.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, issuer, &key.PublicKey, signer)
	if err != nil {
		return keyPair{}, err
	}
	cert, err := x509.ParseCertificate(raw)
	return keyPair{cert: cert, key: key}, err
}

func (k keyPair) write(certFile, keyFile string) error {
	key, err := x509.MarshalPKCS8PrivateKey(k.key)
	if err != nil {
		return err
	}
	return errors.Join(writePEM(certFile, "CERTIFICATE", k.cert.Raw), writePEM(keyFile, "PRIVATE KEY", key))
}

func writePEM(name, kind string, raw []byte) error {
	return os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600)
}
