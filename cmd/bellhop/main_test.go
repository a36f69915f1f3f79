package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// asProgram in the environment makes the test binary the program itself, so
// that the tests kill and signal real processes, with the race detector in
// them if it is in the tests.
const asProgram = "BELLHOP_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// patience bounds every wait for something that ought to happen at once.
const patience = 30 * time.Second

// eventually waits until cond holds, and fails the test when it does not.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	if !within(patience, cond) {
		t.Fatalf("waited %s in vain for %s", patience, what)
	}
}

// within reports whether cond came to hold in the time.
func within(limit time.Duration, cond func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !cond(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// program is one process that runs bellhop.
type program struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  transcript // standard output
	log  transcript // standard error
	gone chan struct{}
}

// invocation says how to start one.
type invocation struct {
	dir   string   // working folder
	env   []string // besides HOME, which is the folder
	stdin string
	args  []string
}

// launch starts bellhop. It is killed, if need be, when the test ends.
func launch(t *testing.T, in invocation) *program {
	t.Helper()
	p := &program{t: t, gone: make(chan struct{})}
	p.cmd = exec.Command(os.Args[0], in.args...) //nolint:noctx // it outlives no test: see Cleanup
	p.cmd.Dir = in.dir
	// The race detector would let every process linger for a second.
	p.cmd.Env = append([]string{asProgram + "=1", "GORACE=atexit_sleep_ms=0", "HOME=" + in.dir, "XDG_CONFIG_HOME=" + in.dir}, in.env...)
	p.cmd.Stdin = strings.NewReader(in.stdin)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its end is in ProcessState
		close(p.gone)
	}()
	t.Cleanup(p.kill)
	return p
}

// signal is for a process that may have ended just now.
func (p *program) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill ends the process at once and waits for it.
func (p *program) kill() {
	p.signal(syscall.SIGKILL)
	<-p.gone
}

// stop asks the process to end and returns its exit code.
func (p *program) stop() int {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	return p.exit()
}

// exit waits for the process's own end and returns its exit code; -1 is a
// signal's.
func (p *program) exit() int {
	p.t.Helper()
	limit := time.NewTimer(softStop + drainStop + patience)
	defer limit.Stop()
	select {
	case <-p.gone:
	case <-limit.C:
		p.signal(syscall.SIGQUIT) // its goroutines tell where it hangs
		<-p.gone
		p.t.Fatalf("the process does not end; it wrote\n%s%s", p.out.String(), p.log.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// ended reports whether the process is over.
func (p *program) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// invoke runs bellhop to its end.
func invoke(t *testing.T, in invocation) (code int, out, errs string) {
	t.Helper()
	p := launch(t, in)
	code = p.exit()
	return code, p.out.String(), p.log.String()
}

// transcript is what a process writes, readable while it does.
type transcript struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (tr *transcript) Write(b []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.buf.Write(b)
}

func (tr *transcript) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.buf.String()
}

// write makes a file in the folder and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
