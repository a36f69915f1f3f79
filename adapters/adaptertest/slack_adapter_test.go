package adaptertest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/adapters/slack"
	"bellhop/core"
)

// distant is a way to Slack on which a method takes its time.
type distant struct {
	http.RoundTripper
	method string
	takes  time.Duration
}

func (d distant) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, d.method) {
		select {
		case <-time.After(d.takes):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return d.RoundTripper.RoundTrip(r)
}

// TestSlackCrowd: many people who are new to us write at once, and Slack says who
// each of them is only after a while; yet it gets all its acknowledgements within
// the three seconds that it waits.
func TestSlackCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := adaptertest.NewSlack(adaptertest.SlackOptions{})
		access := s.Access()
		far := distant{access.HTTP.Transport, "users.info", 250 * time.Millisecond}
		a := slack.New(slack.Options{Name: "slack", BotToken: access.BotToken, AppToken: access.AppToken, APIURL: access.URL,
			HTTP: &http.Client{Transport: far}, Dial: access.Dial})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		names := map[string]bool{}
		go func() {
			done <- a.Run(ctx, func(_ context.Context, batch []core.Inbound) error {
				for _, in := range batch {
					if in.Kind == core.InMessage {
						names[in.From.Name] = true
					}
				}
				return nil
			})
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		const people = 30
		for i := range people {
			u := s.User(fmt.Sprint("Person ", i))
			s.Direct(u).Say(u, "hello")
		}
		time.Sleep(10 * time.Second)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(names) != people {
			t.Errorf("%d people were heard, want %d: %v", len(names), people, names)
		}
		for _, ack := range s.Acks() {
			if ack.After > 3*time.Second {
				t.Errorf("%s was acknowledged after %s", ack.Envelope, ack.After)
			}
		}
	})
}
