package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// config loads the certificate that clients see; nil when TLS is off.
func (c ClientTLS) config() (*tls.Config, error) {
	if c.Mode == "off" || c.Mode == "" {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("load certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
}

// config builds the client side of TLS towards the backend; nil when TLS is off. verify_ca checks the chain and not
// the name; preferred and required check neither, as MySQL's modes of these names do.
func (c BackendTLS) config(address string) (*tls.Config, error) {
	if c.Mode == "off" || c.Mode == "" {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if cfg.ServerName == "" {
		if host, _, err := net.SplitHostPort(address); err == nil {
			cfg.ServerName = host
		}
	}
	if c.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("load client certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{cert}
	}
	if c.CAFile != "" {
		text, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read CA: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read CA: %s holds no PEM certificate", c.CAFile)
		}
	}
	switch c.Mode {
	case "preferred", "required":
		cfg.InsecureSkipVerify = true
	case "verify_ca":
		cfg.InsecureSkipVerify = true
		cfg.VerifyConnection = chainVerifier(cfg.RootCAs)
	}
	return cfg, nil
}

// chainVerifier checks a certificate's chain and leaves its name alone.
func chainVerifier(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(cs tls.ConnectionState) error {
		if len(cs.PeerCertificates) == 0 {
			return errors.New("backend showed no certificate")
		}
		between := x509.NewCertPool()
		for _, cert := range cs.PeerCertificates[1:] {
			between.AddCert(cert)
		}
		_, err := cs.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
		return err
	}
}
