package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"bellhop/core"
)

// fetch opens a file that a person sent. What Telegram gives is a path below
// the token, so no error may name the address.
func (a *Adapter) fetch(ctx context.Context, f core.File) (io.ReadCloser, error) {
	var at struct {
		Path string `json:"file_path"`
	}
	err := a.api.raw(ctx, callTimeout, "getFile", map[string]string{"file_id": f.Ref}, &at)
	switch {
	case refused(err, "too big"):
		return nil, &core.UserError{Text: "Telegram gives bots no files of more than 20 MB"}
	case err != nil:
		return nil, err
	case at.Path == "", strings.HasPrefix(at.Path, "/"):
		// An absolute path is on the disk of a Bot API server of one's own.
		return nil, errors.New("telegram getFile: there is no path to download from")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.api.file(at.Path), nil)
	if err != nil {
		return nil, errors.New("telegram file: " + a.api.reason(err))
	}
	resp, err := a.api.files.Do(req)
	if err != nil {
		return nil, errors.New("telegram file: " + a.api.reason(err))
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("telegram file: HTTP %d", resp.StatusCode)
	}
	return resp.Body, nil
}
