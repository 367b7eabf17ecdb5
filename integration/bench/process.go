package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// A process is a running server and the pipes to it.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	nextID int
}

func launch(command []string) (*process, error) {
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}, cmd.Start()
}

// greet does what every client does first, and returns the answer to tools/list.
func (p *process) greet() ([]byte, error) {
	_, err := p.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(p.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		return nil, err
	}
	return p.ask("tools/list", "{}")
}

// ask makes a request and returns its good answer.
func (p *process) ask(method, params string) ([]byte, error) {
	line, failed, err := p.answer(method, params)
	if err == nil && failed {
		err = fmt.Errorf("%s: answered %.300s", method, line)
	}
	return line, err
}

// answer makes a request and returns the next line, which must be the answer: nothing else is
// expected of these servers. Failed says that it is a call's error.
func (p *process) answer(method, params string) (line []byte, failed bool, err error) {
	p.nextID++
	if _, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.nextID, method, params); err != nil {
		return nil, false, fmt.Errorf("%s: %w", method, err)
	}
	line, err = p.out.ReadBytes('\n')
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", method, err)
	}
	var answer struct {
		ID     int
		Result *struct{ IsError bool }
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.ID != p.nextID || answer.Result == nil {
		return nil, false, fmt.Errorf("%s: answered %.300s", method, line)
	}
	return line, answer.Result.IsError, nil
}

// rss is the resident memory in bytes; Linux only.
func (p *process) rss() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	var kib int64
	if _, err := fmt.Sscan(string(rest), &kib); err != nil {
		return 0, fmt.Errorf("read VmRSS: %w", err)
	}
	return kib << 10, nil
}

// end closes the input, waits, and returns the CPU time of the whole process.
func (p *process) end() (time.Duration, error) {
	if err := p.in.Close(); err != nil {
		return 0, err
	}
	if err := p.cmd.Wait(); err != nil {
		return 0, err
	}
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(), nil
}
