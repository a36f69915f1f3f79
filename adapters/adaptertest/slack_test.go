package adaptertest

import (
	"net/http"
	"strings"
	"testing"
)

// slackPost sends JSON parameters to a method.
func slackPost(t *testing.T, s *Slack, method, token string, p map[string]any) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://slack.test/api/"+method, strings.NewReader(string(encode(p))))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}
