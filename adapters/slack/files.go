package slack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
)

// uploadTimeout bounds the way of a file's content to Slack.
const uploadTimeout = 3 * time.Minute

// fetch opens a file that a person sent. Slack answers who may not read it
// with the page for signing in, and says that all is well.
func (a *Adapter) fetch(ctx context.Context, f core.File) (io.ReadCloser, error) {
	id, at, _ := strings.Cut(f.Ref, " ")
	if at == "" {
		var info struct {
			File file `json:"file"`
		}
		if err := a.api.call(ctx, "files.info", url.Values{"file": {id}}, &info); err != nil {
			return nil, a.outcome(err)
		}
		at = info.File.URL.v
	}
	u, err := url.Parse(at)
	if err != nil || !a.api.trusts(u) {
		return nil, fmt.Errorf("file %s is not kept by Slack: %w", id, core.ErrRefused)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.New(a.api.reason(err))
	}
	a.api.sign(req, false)
	resp, err := a.api.files.Do(req)
	if err != nil {
		return nil, fmt.Errorf("file %s: %s", id, a.api.reason(err))
	}
	body := bufio.NewReader(resp.Body)
	if err := readable(f, req, resp, body); err != nil {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("file %s: %w", id, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{body, resp.Body}, nil
}

// readable reports what is wrong with an answer that should be a file.
func readable(f core.File, req *http.Request, resp *http.Response, body *bufio.Reader) error {
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return &core.RetryAfter{After: retryAfter(resp.Header), Err: errors.New("too many requests")}
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	begin, _ := body.Peek(512)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	begin = bytes.ToLower(bytes.TrimSpace(begin))
	page := kind == "text/html" || bytes.HasPrefix(begin, []byte("<!doctype html")) || bytes.HasPrefix(begin, []byte("<html"))
	isPage := strings.HasPrefix(f.MIME, "text/html") || strings.HasPrefix(f.MIME, "application/xhtml")
	if signIn := resp.Request != nil && resp.Request.URL.Query().Get("redir") == req.URL.Path; signIn || page && !isPage {
		return errors.New("a sign-in page came instead of the file: the app needs the scope files:read")
	}
	return nil
}

// attach shows o's file, once. Slack would show a second one as well, so the
// place is read before: an earlier try may have shown it.
func (a *Adapter) attach(ctx context.Context, o core.Outbound) error {
	a.mu.Lock()
	done, _ := a.shared.get(o.Key)
	a.mu.Unlock()
	if done {
		return nil
	}
	me, err := a.self(ctx)
	if err != nil {
		return a.outcome(err)
	}
	found := false
	err = a.search(ctx, o, func(m *message) bool {
		found = me.wrote(m) && slices.ContainsFunc(m.Files.v, func(f loose[file]) bool {
			return f.v.Name.v == o.File.Name && f.v.Size.v == int64(len(o.File.Content))
		})
		return found
	})
	if err = a.outcome(err); err != nil && !errors.Is(err, core.ErrRefused) { // who may not read may write all the same
		return err
	}
	if !found {
		if err := a.outcome(a.share(ctx, o)); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shared.put(o.Key, true)
	return nil
}

// share uploads a file, which nobody sees, and then shows it.
func (a *Adapter) share(ctx context.Context, o core.Outbound) error {
	if len(o.File.Content) == 0 {
		return fmt.Errorf("%w: the file is empty", core.ErrRefused)
	}
	var to struct {
		URL string `json:"upload_url"`
		ID  string `json:"file_id"`
	}
	err := a.api.call(ctx, "files.getUploadURLExternal", url.Values{
		"filename": {o.File.Name}, "length": {strconv.Itoa(len(o.File.Content))},
	}, &to)
	if err != nil {
		return err
	}
	// The address is the permission: no token goes along.
	const method = "file upload"
	call, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(call, http.MethodPost, to.URL, bytes.NewReader(o.File.Content))
	if err != nil {
		return &apiError{method: method, text: a.api.reason(err), unsent: true}
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	_, _, status, err := a.api.send(req, method)
	if err == nil && status != http.StatusOK {
		err = &apiError{method: method, text: fmt.Sprintf("HTTP %d", status)}
	}
	if e, failed := errors.AsType[*apiError](err); failed {
		e.unsent = e.retryAfter == 0 // nobody has seen anything yet
		return e
	}
	files, err := json.Marshal([]map[string]string{{"id": to.ID, "title": o.File.Name}})
	if err != nil {
		return err
	}
	params := url.Values{"files": {string(files)}, "channel_id": {o.Place.Channel}}
	if o.Place.Topic != "" {
		params.Set("thread_ts", o.Place.Topic)
	}
	return a.api.call(ctx, "files.completeUploadExternal", params, nil)
}
