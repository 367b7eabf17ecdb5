package container

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tlsFiles say how to speak TLS with an engine. The zero value says not to.
type tlsFiles struct {
	dir  string // holds ca.pem, cert.pem and key.pem, or some of them
	skip bool   // the engine's certificate is not checked
}

// tlsFromEnvironment reads DOCKER_TLS_VERIFY and DOCKER_CERT_PATH as the Docker command line
// does: without the first there is no TLS.
func tlsFromEnvironment() tlsFiles {
	if os.Getenv("DOCKER_TLS_VERIFY") == "" {
		return tlsFiles{}
	}
	if dir := os.Getenv("DOCKER_CERT_PATH"); dir != "" {
		return tlsFiles{dir: dir}
	}
	return tlsFiles{dir: dockerConfigDir()}
}

// config returns nil for no TLS.
func (t tlsFiles) config() (*tls.Config, error) {
	if t.dir == "" && !t.skip {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.skip}
	ca, err := os.ReadFile(filepath.Join(t.dir, "ca.pem"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the certificates for the engine: %w", err)
	}
	if err == nil {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(ca) {
			return nil, fmt.Errorf("read the certificates for the engine: %s holds none", filepath.Join(t.dir, "ca.pem"))
		}
	}
	own, err := tls.LoadX509KeyPair(filepath.Join(t.dir, "cert.pem"), filepath.Join(t.dir, "key.pem"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the certificates for the engine: %w", err)
	}
	if err == nil {
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}
