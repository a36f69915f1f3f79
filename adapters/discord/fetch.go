package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"bellhop/core"
)

// cdn are the hosts of attachments.
var cdn = []string{"cdn.discordapp.com", "media.discordapp.net"}

// fetch opens an attachment. Its address is signed and expires; then the
// message tells a fresh one.
func (a *Adapter) fetch(ctx context.Context, f core.File) (io.ReadCloser, error) {
	var ref fileRef
	if err := json.Unmarshal([]byte(f.Ref), &ref); err != nil {
		return nil, fmt.Errorf("%w: no file of Discord", core.ErrRefused)
	}
	if !expired(ref.URL) {
		body, status, err := a.download(ctx, ref.URL)
		if err != nil || body != nil {
			return body, err
		}
		a.log.Debug("an attachment's address no longer works", "attachment", ref, "status", status)
	}
	var m message
	if err := a.api.call(ctx, http.MethodGet, messagePath(ref.Channel, ref.Message), nil, &m); err != nil {
		return nil, a.outcome(err)
	}
	attached := m.Attached.v
	for _, s := range m.Snapshots.v {
		attached = append(attached, s.Message.v.Attached.v...)
	}
	i := slices.IndexFunc(attached, func(at attachment) bool { return at.ID == ref.ID })
	if i < 0 {
		return nil, fmt.Errorf("%w: %s is gone", core.ErrGone, ref)
	}
	body, status, err := a.download(ctx, attached[i].address())
	if err == nil && body == nil {
		err = fmt.Errorf("%w: %s: HTTP %d", core.ErrRefused, ref, status)
	}
	return body, err
}

// expired reports whether the time in an address, in hexadecimal seconds, is
// past.
func expired(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	at, err := strconv.ParseInt(u.Query().Get("ex"), 16, 64)
	return err == nil && time.Now().Unix() >= at
}

// download opens an address of Discord's own. body is nil if it is refused
// with that status. It tells nobody who we are.
func (a *Adapter) download(ctx context.Context, address string) (body io.ReadCloser, status int, err error) {
	u, err := url.Parse(address)
	ours := err == nil && u.Host == a.api.base.Host && u.Scheme == a.api.base.Scheme
	if err != nil || !ours && !(u.Scheme == "https" && slices.Contains(cdn, u.Host)) {
		return nil, 0, fmt.Errorf("%w: an attachment that is not at Discord", core.ErrRefused)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %s", core.ErrRefused, a.api.reason(err))
	}
	req.Header.Set("User-Agent", userAgent)
	resp, err := a.api.http.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: the attachment cannot be opened: %s", core.ErrNotSent, a.api.reason(err))
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		return resp.Body, resp.StatusCode, nil
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= http.StatusInternalServerError:
		err = fmt.Errorf("%w: the attachment cannot be opened: HTTP %d", core.ErrNotSent, resp.StatusCode)
	}
	resp.Body.Close()
	return nil, resp.StatusCode, err
}
