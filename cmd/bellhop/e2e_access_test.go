package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// firstCode is the code that the process has printed; empty: none.
func firstCode(t *testing.T, p *program) string {
	t.Helper()
	found := regexp.MustCompile(`owner: ([0-9A-Z]{4}-[0-9A-Z]{4})\n`).FindStringSubmatch(p.out.String())
	if found == nil {
		return ""
	}
	return found[1]
}

// Who has the terminal becomes the owner, with a code that is printed there and
// stands nowhere else; and lets others in from the chat.
func TestFirstOwner(t *testing.T) {
	h := newHouse(t)
	h.amend(`owners = ["telegram:1111"]`, `owners = []`)
	p := h.run()
	stale := firstCode(t, p)
	p.stop()
	p = h.run()
	code := firstCode(t, p)
	if code == "" || code == stale {
		t.Fatalf("the codes are %q and %q", stale, code)
	}
	eve := h.tg.User(666, "Eve")
	hers := h.tg.Private(eve)
	hers.Say(eve, stale)
	offer := h.shows(hers, "I do not know you").Text
	h.direct.Say(h.owner, strings.ToLower(code))
	h.shows(h.direct, "You are my owner now")
	hers.Say(eve, code)
	h.direct.Say(h.owner, "q1")
	h.shows(h.direct, "a1.")
	if list := own(hers); len(list) != 1 {
		t.Errorf("who comes second is shown %v", list)
	}
	bytesOf := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(h.dir, "data", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	p.stop()
	for _, c := range []string{code, strings.ReplaceAll(code, "-", ""), strings.ToLower(code)} {
		if strings.Contains(p.log.String(), c) || bytes.Contains(bytesOf("bellhop.db"), []byte(c)) {
			t.Errorf("%s is in the log or in the store", c)
		}
	}

	p = h.run()
	if again := firstCode(t, p); again != "" {
		t.Errorf("there is a code for a second owner: %s", again)
	}
	pass := regexp.MustCompile(`/pair [0-9A-Z-]{9}`).FindString(offer)
	h.direct.Say(h.owner, pass)
	h.shows(h.direct, "is let in")
	h.shows(hers, "You are let in")
	hers.Say(eve, "q2")
	h.shows(hers, "a2.")

	h.direct.Say(h.owner, "/pair new")
	link := regexp.MustCompile(`https://t\.me/\w+\?start=([0-9A-Z-]+)`).FindStringSubmatch(h.shows(h.direct, "https://t.me/").Text)
	if link == nil {
		t.Fatal("the invitation has no link")
	}
	dan := h.tg.User(777, "Dan")
	his := h.tg.Private(dan)
	his.Command(dan, "start", link[1])
	h.shows(his, "You are let in")
}

// Whoever reaches the terminal is an owner, also where nobody else is.
func TestTerminalIsTheOwners(t *testing.T) {
	h := newHouse(t)
	h.amend(`owners = ["telegram:1111"]`, `owners = []`)
	h.run()
	if code, out, errs := h.invoke("/whoami\n", "chat"); code != 0 || !strings.Contains(out, "`console:you`, owner") {
		t.Errorf("chat ends with %d, prints %q and %q", code, out, errs)
	}
	if code, out, errs := h.invoke("/pair\n", "chat"); code != 0 || !strings.Contains(out, "Nobody has been let in here") {
		t.Errorf("chat ends with %d, prints %q and %q", code, out, errs)
	}
	h.direct.Say(h.owner, "q1")
	h.shows(h.direct, "I do not know you")
}

// Nothing is fetched for a stranger, nothing shows that they are read, and no
// model is asked.
func TestStrangerCostsNothing(t *testing.T) {
	h := newHouse(t)
	gate := make(chan struct{})
	h.model.does(func(q inquiry) act {
		<-gate
		return answers(q)
	})
	h.run()
	eve := h.tg.User(666, "Eve")
	hers := h.tg.Private(eve)
	hers.Document(eve, "q1", "a.txt", "text/plain", []byte("hello"))
	hers.Photo(eve, "q2", []byte("\xff\xd8\xff\xe0"))
	hers.Voice(eve, []byte("OggS"))
	h.shows(hers, "I do not know you")
	h.direct.Say(h.owner, "q3")
	h.tg.Wait(t, "the owner to see that they are read", func() bool { return len(h.tg.Calls("sendChatAction")) > 0 }) // so would have the stranger
	close(gate)
	h.shows(h.direct, "a3.")
	var calls []string
	for _, c := range h.tg.Calls("") {
		if slices.Contains([]string{"getFile", "sendChatAction", "setMessageReaction"}, c.Method) && c.Params["chat_id"] == "666" || c.Method == "getFile" {
			calls = append(calls, c.Method)
		}
	}
	if len(calls) > 0 || len(h.model.asks()) != 1 {
		t.Errorf("a stranger costs %v and %d questions to the model", calls, len(h.model.asks())-1)
	}
}
