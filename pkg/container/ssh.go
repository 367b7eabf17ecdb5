package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// An sshTarget is an engine that is reached by the program ssh, which knows the user's keys and
// configuration. At the far end, `docker system dial-stdio` passes the bytes on.
type sshTarget struct {
	user, host, port string
	socket           string // of the engine there; "" for what docker finds
}

func parseSSH(address string) (sshTarget, error) {
	u, err := url.Parse(address)
	if err != nil {
		return sshTarget{}, err
	}
	t := sshTarget{user: u.User.Username(), host: u.Hostname(), port: u.Port(), socket: strings.TrimSuffix(u.Path, "/")}
	_, password := u.User.Password()
	switch {
	case t.host == "" || strings.HasPrefix(t.host, "-") || strings.HasPrefix(t.user, "-"):
		return t, fmt.Errorf("%q names no host; hint: ssh://user@host:port", address)
	case password:
		return t, errors.New("an address with a password is not taken; hint: use a key")
	}
	return t, nil
}

// arguments returns those of ssh. It must never ask: nobody is there to answer.
func (t sshTarget) arguments() []string {
	args := []string{"-T", "-o", "BatchMode=yes"}
	if t.user != "" {
		args = append(args, "-l", t.user)
	}
	if t.port != "" {
		args = append(args, "-p", t.port)
	}
	args = append(args, "--", t.host, "docker")
	if t.socket != "" {
		args = append(args, "--host", shellQuote("unix://"+t.socket))
	}
	return append(args, "system", "dial-stdio")
}

// shellQuote quotes s for the shell at the far end.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// dial starts ssh. The connection outlives ctx.
func (t sshTarget) dial(context.Context, string, string) (net.Conn, error) {
	c := &sshConn{target: t, cmd: exec.Command("ssh", t.arguments()...)}
	c.cmd.Stderr, c.cmd.WaitDelay = &c.said, time.Second // a shared master connection keeps the stream open
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("run ssh: %w", err)
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("run ssh: %w", err)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("run ssh: %w", err)
	}
	return c, nil
}

// sshEnds is how long ssh may take to end once it sends nothing more.
const sshEnds = time.Second

// An sshConn is a running ssh as a connection. It knows no deadlines.
type sshConn struct {
	target sshTarget
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	said   tailBuffer // on standard error
	ended  sync.Once
}

// Read reads what the far end sends.
func (c *sshConn) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if n == 0 && err != nil {
		err = c.why(err)
	}
	return n, err
}

// Write sends p.
func (c *sshConn) Write(p []byte) (int, error) {
	n, err := c.in.Write(p)
	if err != nil {
		err = c.why(err)
	}
	return n, err
}

// why returns what ssh said at its end, if anything, in place of an error of its streams.
func (c *sshConn) why(err error) error {
	c.end(sshEnds)
	if said := c.said.String(); said != "" {
		return fmt.Errorf("ssh %s: %s", c.target.host, said)
	}
	return err
}

// CloseWrite ends what is sent; reading goes on.
func (c *sshConn) CloseWrite() error { return c.in.Close() }

// Close ends ssh.
func (c *sshConn) Close() error {
	c.in.Close()
	c.cmd.Process.Kill() // it may have ended
	c.end(0)
	return nil
}

// end waits for the end of ssh, and of what it says, and brings it about after a while.
func (c *sshConn) end(after time.Duration) {
	c.ended.Do(func() {
		late := time.AfterFunc(after, func() { c.cmd.Process.Kill() })
		defer late.Stop()
		c.cmd.Wait() // how it ended says nothing more than its words
	})
}

// LocalAddr and the methods below complete net.Conn.
func (c *sshConn) LocalAddr() net.Addr { return sshAddr("here") }

// RemoteAddr returns the host.
func (c *sshConn) RemoteAddr() net.Addr { return sshAddr(c.target.host) }

// SetDeadline does nothing.
func (c *sshConn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (c *sshConn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (c *sshConn) SetWriteDeadline(time.Time) error { return nil }

type sshAddr string

// Network returns ssh.
func (a sshAddr) Network() string { return "ssh" }

// String returns the host.
func (a sshAddr) String() string { return string(a) }
