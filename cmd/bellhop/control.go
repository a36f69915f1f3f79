package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bellhop/core"
	"bellhop/core/config"
	"bellhop/store"
)

// The control socket: the process that holds the store serves it, so that
// other invocations work beside it. A client writes one request as a line of
// JSON; then a chat's protocol follows, or one answer.

const socketName = "control.sock"

type request struct {
	Do     string     `json:"do"` // chat, trace, threads, tasks, runs, activity, send, answer
	Arg    string     `json:"arg,omitempty"`
	Say    *saying    `json:"say,omitempty"`
	Answer *answering `json:"answer,omitempty"`
	Wanted *wanted    `json:"wanted,omitempty"` // of the activity log
}

type answer struct {
	Text    string        `json:"text,omitempty"`
	Last    core.ID       `json:"last,omitempty"` // up to where the activity log was read
	Threads []core.Thread `json:"threads,omitempty"`
	Error   string        `json:"error,omitempty"`
}

// errNobody: no process serves the socket.
var errNobody = errors.New("no appliance is running")

// control is the serving side. Its goroutines, one that accepts and one per
// client, have ended when close returns.
type control struct {
	l    *net.UnixListener
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// listen serves the socket at path. The caller holds the store, so a socket
// that is there already is a dead process's.
func listen(path string, a *appliance) (*control, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	old := syscall.Umask(0o177) // the socket must never be open to others, not even for a moment
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	syscall.Umask(old)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &control{l: l, stop: stop}
	c.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.wg.Go(func() { c.serve(ctx, conn, a) })
		}
	})
	return c, nil
}

func (c *control) close() {
	c.stop()
	c.l.Close()
	c.wg.Wait()
}

// requestTime bounds how long a client may take to say what it wants.
const requestTime = 5 * time.Second

func (c *control) serve(ctx context.Context, conn net.Conn, a *appliance) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(requestTime)); err != nil {
		return
	}
	var req request
	if err := json.Unmarshal(readLine(conn), &req); err != nil {
		reply(conn, answer{Error: "the request is not a line of JSON"})
		return
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return
	}
	if req.Do == "send" && req.Say != nil {
		reply(conn, a.say(ctx, *req.Say))
		return
	}
	if req.Do == "answer" && req.Answer != nil {
		reply(conn, a.answer(ctx, *req.Answer))
		return
	}
	if req.Do != "chat" {
		reply(conn, respond(ctx, a.store, req))
		return
	}
	stop()
	if err := a.console.Serve(ctx, conn); err != nil {
		a.log.Warn("chat client", "err", err)
	}
}

// maxRequest is the longest request. Source: a text of maxSaying bytes as JSON,
// where a byte may become six.
const maxRequest = 6*maxSaying + 4096

// readLine reads up to a newline and not a byte more: what follows belongs to
// another protocol.
func readLine(r io.Reader) []byte {
	var line []byte
	b := make([]byte, 1)
	for len(line) < maxRequest {
		if _, err := r.Read(b); err != nil || b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	return line
}

func reply(conn net.Conn, a answer) {
	// A client that is gone needs no answer.
	_ = json.NewEncoder(conn).Encode(a)
}

// respond answers a request from the store.
func respond(ctx context.Context, s *store.Store, req request) answer {
	switch req.Do {
	case "threads":
		threads, err := s.Threads(ctx)
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Threads: threads}
	case "tasks":
		open, ended, err := s.Tasks(ctx, newestItems)
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Text: listTasks(open, ended)}
	case "runs":
		return respondRuns(ctx, s)
	case "activity":
		if req.Wanted == nil {
			req.Wanted = &wanted{}
		}
		return respondActivity(ctx, s, *req.Wanted)
	case "trace":
		id, err := core.ParseID(req.Arg)
		if err != nil {
			return answer{Error: err.Error()}
		}
		if id.Kind() == core.KindThread {
			return respondThread(ctx, s, id)
		}
		life, err := s.Trace(ctx, id)
		if errors.Is(err, core.ErrNotFound) {
			return answer{Error: fmt.Sprintf("nothing here has the id %s", id)}
		}
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Text: trace(life)}
	}
	return answer{Error: fmt.Sprintf("unknown request %q: the running appliance may be of another release", req.Do)}
}

// newestItems is how many of all items tasks looks at for those that have ended.
const newestItems = 200

// newest is how many messages of a thread trace lists.
const newest = 30

// respondThread lists a thread's newest messages, whose ids trace takes.
func respondThread(ctx context.Context, s *store.Store, id core.ID) answer {
	msgs, more, err := s.Before(ctx, id, "", newest)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if len(msgs) == 0 {
		return answer{Error: fmt.Sprintf("no thread %s has messages here", id)}
	}
	return answer{Text: listMessages(id, msgs, more)}
}

// dial connects to a running appliance and says what is wanted. errNobody when
// none is there, or it has just ended.
func dial(ctx context.Context, path string, req request) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, errNobody
	}
	if err := json.NewEncoder(conn).Encode(req); err != nil {
		conn.Close()
		return nil, errNobody
	}
	return conn, nil
}

// query asks the running appliance, or the store itself when none runs.
func query(ctx context.Context, cfg *config.Config, req request) (answer, error) {
	a, err := queryRunning(ctx, cfg, req)
	if !errors.Is(err, errNobody) {
		return a, err
	}
	if a, err = answerHere(ctx, cfg, req); err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

// queryRunning asks the running appliance. errNobody: there is none, or it ended
// before it had answered.
func queryRunning(ctx context.Context, cfg *config.Config, req request) (answer, error) {
	var a answer
	conn, err := dial(ctx, filepath.Join(cfg.Store.Path, socketName), req)
	if err != nil {
		return a, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	err = json.NewDecoder(conn).Decode(&a)
	switch _, broken := errors.AsType[*net.OpError](err); {
	case broken, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return a, errNobody
	case err != nil:
		return a, fmt.Errorf("control socket: %w", err)
	case a.Error != "":
		return a, errors.New(a.Error)
	}
	return a, nil
}

// answerHere answers from the store, which no other process holds.
func answerHere(ctx context.Context, cfg *config.Config, req request) (a answer, err error) {
	if _, err := os.Stat(cfg.Store.Path); err != nil {
		return a, fmt.Errorf("there is no store at %s yet", cfg.Store.Path)
	}
	s, err := openStore(ctx, cfg, "bellhop "+req.Do, store.Options{})
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return respond(ctx, s, req), nil
}

// ask is the commands trace, threads and tasks.
func ask(cmd *cobra.Command, path string, req request) error {
	cfg, _, err := load(path)
	if err != nil {
		return err
	}
	a, err := query(cmd.Context(), cfg, req)
	if err != nil {
		return err
	}
	if req.Do == "threads" {
		a.Text = listThreads(a.Threads)
	}
	fmt.Fprint(cmd.OutOrStdout(), a.Text)
	return nil
}

func storedThreads(ctx context.Context, cfg *config.Config) ([]core.Thread, error) {
	a, err := query(ctx, cfg, request{Do: "threads"})
	return a.Threads, err
}
