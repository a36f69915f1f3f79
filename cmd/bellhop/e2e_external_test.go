package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bellhop/core"
	"bellhop/core/webhook"
	"bellhop/store"
)

// hookSecret signs webhooks. Nothing may print it, nor the address with a token.
const hookSecret = "a-secret-of-webhooks-that-nobody-prints"

// hook is whoever receives webhooks: it checks the signature and keeps what
// comes.
type hook struct {
	mu     sync.Mutex
	got    []delivery    // guarded by mu
	arrive chan struct{} // one for each that comes, while they are held
	hold   bool          // guarded by mu: no answer is given
	faults []string      // guarded by mu
}

type delivery struct {
	Item    core.ID `json:"item_id"`
	Thread  core.ID `json:"thread_id"`
	Message struct {
		ID   core.ID `json:"id"`
		Text string  `json:"text"`
	} `json:"message"`
	Reply []string `json:"reply"`
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var d delivery
	err = errors.Join(err, json.Unmarshal(raw, &d))
	h.mu.Lock()
	if err != nil || r.Header.Get("X-Bellhop-Signature") != webhook.Sign(hookSecret, raw) || r.Header.Get("X-Bellhop-Item") != string(d.Item) || r.URL.RawQuery != "token=hidden" {
		h.faults = append(h.faults, string(raw))
	}
	h.got = append(h.got, d)
	hold := h.hold
	h.mu.Unlock()
	if hold {
		h.arrive <- struct{}{}
		<-r.Context().Done()
	}
}

func (h *hook) holds(hold bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hold = hold
}

func (h *hook) deliveries() []delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.got)
}

// programs is a house with two external actors, of which ci listens.
func programs(t *testing.T) (*house, *hook) {
	h, hk := newHouse(t), &hook{arrive: make(chan struct{}, 100)}
	h.amend("[access]", `[webhooks.ci]
description = "Builds"
url = "`+serve(t, hk)+`/hook?token=${HOOK}"
secret = "${SECRET}"
[webhooks.nightly]
[access]`)
	h.start.env = append(h.start.env, "HOOK=hidden", "SECRET="+hookSecret)
	return h, hk
}

func TestSend(t *testing.T) {
	h, hk := programs(t)
	refused := func(want string, args ...string) {
		t.Helper()
		code, out, errs := h.invoke("", append([]string{"send"}, args...)...)
		if code != exitFailed || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("send %q ends with %d, %q and %q; want a line with %q", args, code, out, errs, want)
		}
	}
	said := func(stdin string, args ...string) core.ID {
		t.Helper()
		code, out, errs := h.invoke(stdin, append([]string{"send"}, args...)...)
		id, err := core.ParseID(out)
		if code != 0 || errs != "" || err != nil || out != string(id)+"\n" {
			t.Fatalf("send %q ends with %d, %q and %q", args, code, out, errs)
		}
		return id
	}
	refused("bellhop does not run here: start it with `bellhop run`", "--as", "ci", "--to", "telegram:1111", "hello")
	p := h.run()
	refused("nobody has talked with a bot at telegram:1111 yet", "--as", "ci", "--to", "telegram:1111", "hello")
	h.direct.Say(h.owner, "q1 for @ci and @assistant")
	h.shows(h.direct, "a1.")
	eventually(t, "the webhooks", func() bool { return len(hk.deliveries()) == 2 })

	refused(`there is no external actor "cron": the configuration has ci, nightly`, "--as", "cron", "--to", "telegram:1111", "hello")
	refused(`there is no adapter "signal"`, "--as", "ci", "--to", "signal:1", "hello")
	refused("there is no conversation t99", "--as", "ci", "--to", "t99", "hello")
	refused(`"m3" is no ID of a thread`, "--as", "ci", "--to", "m3", "hello")
	refused(`"telegram:" is not a place`, "--as", "ci", "--to", "telegram:", "hello")
	refused("the text is blank", "--as", "ci", "--to", "telegram:1111", " \n")
	refused("the text is blank", "--as", "ci", "--to", "telegram:1111")
	refused("the text is too long", "--as", "ci", "--to", "telegram:1111", strings.Repeat("x", maxSaying+1))
	if code, _, errs := h.invoke("", "send", "--as", "ci"); code != exitUsage || !strings.Contains(errs, "--to") {
		t.Errorf("without a place: %d, %q", code, errs)
	}

	id := said("Disk is\nalmost full.\n", "--as", "nightly", "--to", "telegram:1111", "--key", "disk 1", "-")
	h.shows(h.direct, "Disk is\nalmost full.")
	if again := said("other words", "--as", "nightly", "--to", "telegram:1111", "--key", "disk 1"); again != id {
		t.Errorf("said twice: %s and %s", id, again)
	}
	if other := said("", "--as", "ci", "--to", "telegram:1111", "--key", "disk 1", "mine"); other == id {
		t.Error("two programs share their keys")
	}
	// As a webhook says how to reply. The only bot of the conversation answers.
	d := hk.deliveries()[0]
	if d.Message.Text != "q1 for @ci and @assistant" {
		t.Errorf("the first webhook is %+v", d)
	}
	said(strings.Repeat("<", maxSaying), append(d.Reply[2:], "-")...)
	said("q2 "+strings.Repeat("\\", 100), append(d.Reply[2:], "-")...)
	h.shows(h.direct, "a2.")
	_, out, _ := h.invoke("", "trace", string(id))
	if !strings.Contains(out, "nightly: Disk is almost full.") || !strings.Contains(out, "piece 1 of 1, is platform message") {
		t.Errorf("trace says\n%s", out)
	}
	if _, out, _ := h.invoke("", "trace", string(d.Item)); !strings.Contains(out, "@ci") || !strings.Contains(out, "done after 1 tries") {
		t.Errorf("trace says\n%s", out)
	}
	_, shown, _ := h.invoke("", "check")
	if !strings.Contains(shown, `/hook?token=${HOOK}`) {
		t.Errorf("check shows\n%s", shown)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, text := range []string{p.log.String(), p.out.String(), shown, out} {
		if strings.Contains(text, hookSecret) || strings.Contains(text, "hidden") {
			t.Errorf("a secret is printed in\n%s", text)
		}
	}
	for _, got := range hk.deliveries() {
		if strings.HasPrefix(got.Message.Text, "mine") {
			t.Error("ci was told what it has said itself")
		}
	}
	if len(hk.faults) > 0 {
		t.Errorf("webhooks with faults: %q", hk.faults)
	}
}

// Whatever moment the process is killed at, each message reaches the webhook,
// under one ID however often it comes, and in order.
func TestWebhooksSurviveKills(t *testing.T) {
	h, hk := programs(t)
	hk.holds(true)
	p := h.run()
	texts := []string{"@ci one", "@ci two", "@ci three"}
	for _, text := range texts {
		h.direct.Say(h.owner, text)
	}
	for range 3 {
		<-hk.arrive // the first one came, and its answer will be lost
		p.kill()
		p = h.run()
	}
	<-hk.arrive
	p.kill()
	hk.holds(false)
	p = h.run()
	var ids []core.ID
	eventually(t, "all webhooks", func() bool {
		var came []string
		ids = nil
		for _, d := range hk.deliveries() {
			if !slices.Contains(ids, d.Item) {
				ids, came = append(ids, d.Item), append(came, d.Message.Text)
			}
		}
		return slices.Equal(came, texts)
	})
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := len(hk.deliveries()); n < 7 || len(hk.faults) > 0 {
		t.Errorf("%d webhooks came, with the faults %q", n, hk.faults)
	}
	withStore(t, filepath.Join(h.dir, "data"), func(s *store.Store, b store.Books) {
		for _, it := range b.Items {
			if !it.External() || it.State != core.Done || !slices.Contains(ids, it.ID) {
				t.Errorf("item %+v", it)
			}
		}
		if wrong, err := s.Check(t.Context()); err != nil || len(wrong) > 0 || len(b.Items) != len(texts) {
			t.Errorf("%d items, %v, %v", len(b.Items), wrong, err)
		}
	})
}

// A question that there is not, and what is none, gets a line that says so.
func TestAnswer(t *testing.T) {
	h, _ := programs(t)
	refused := func(want string, args ...string) {
		t.Helper()
		code, out, errs := h.invoke("", append([]string{"answer"}, args...)...)
		if code != exitFailed || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("answer %q ends with %d, %q and %q; want a line with %q", args, code, out, errs, want)
		}
	}
	refused("bellhop does not run here", "--as", "ci", "a3", "yes")
	p := h.run()
	defer p.stop()
	refused("there is no question a99", "--as", "ci", "a99", "yes")
	refused(`there is no external actor "cron"`, "--as", "cron", "a99", "yes")
	refused(`"m3" is no ID of a question`, "--as", "ci", "m3", "yes")
	refused("the text is blank", "--as", "ci", "a99", " ")
	if code, _, errs := h.invoke("", "answer", "--as", "ci"); code != exitUsage || !strings.Contains(errs, "answer") {
		t.Errorf("without an ID: %d, %q", code, errs)
	}
}
