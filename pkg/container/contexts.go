package container

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The contexts of the Docker command line: config.json names the current one, and
// contexts/meta and contexts/tls hold a directory for each, named by the SHA-256 of its name.

// dockerConfigDir returns where the Docker command line keeps its configuration; "" where
// there is no home.
func dockerConfigDir() string {
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".docker")
}

// chosenContext returns the name of the context that the Docker command line would use, and
// who chose it.
func chosenContext() (name, source string, broken *Attempt) {
	if name := os.Getenv("DOCKER_CONTEXT"); name != "" {
		return name, "DOCKER_CONTEXT", nil
	}
	path := filepath.Join(dockerConfigDir(), "config.json")
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	err := readJSON(path, &config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", &Attempt{Source: "current context", Host: path, Err: err}
	}
	return config.CurrentContext, "current context", nil
}

// contextPlace returns where the engine of a context is.
func contextPlace(name, source string) (*place, *Attempt) {
	if source == "current context" {
		source = "context " + name
	} else {
		source = fmt.Sprintf("context %s of %s", name, source)
	}
	id := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	path := filepath.Join(dockerConfigDir(), "contexts", "meta", id, "meta.json")
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	err := readJSON(path, &meta)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("no such context")
	}
	docker := meta.Endpoints["docker"]
	if err == nil && docker.Host == "" {
		err = errors.New("the context names no engine")
	}
	if err != nil {
		return nil, &Attempt{Source: source, Host: path, Err: err}
	}
	p := &place{source: source, host: docker.Host, tls: tlsFiles{skip: docker.SkipTLSVerify}}
	if dir := filepath.Join(dockerConfigDir(), "contexts", "tls", id, "docker"); isDir(dir) {
		p.tls.dir = dir
	}
	return p, nil
}

func readJSON(path string, v any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
