package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/store"
)

func TestWrongTokenEndsTheProcess(t *testing.T) {
	h := newHouse(t)
	h.start.env[0] = "TOKEN=987654:wrong"
	began := time.Now()
	code, _, errs := invoke(t, h.start)
	if took := time.Since(began); code != exitFailed || took > 10*time.Second {
		t.Errorf("exit code %d after %s, want %d soon", code, took, exitFailed)
	}
	last := lastLine(errs)
	for _, want := range []string{`adapter "telegram"`, "refuses the bot token", "check the token"} {
		if !strings.Contains(last, want) {
			t.Errorf("%q does not say %q", last, want)
		}
	}
}

func TestOneAdapterIsDownAndTheOtherWorks(t *testing.T) {
	h := newHouse(t)
	broken := adaptertest.NewTelegram(adaptertest.TelegramOptions{Token: "1:other"})
	toml, err := os.ReadFile(filepath.Join(h.dir, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	h.configure(string(toml) + `
[adapters.second]
type = "telegram"
token = "${TOKEN}"
api_url = "` + broken.Serve(t) + `"
`)
	p := h.run()
	h.shows(h.direct, "The adapter second is down")
	h.direct.Say(h.owner, "q1")
	h.shows(h.direct, "a1.")
	if code := p.stop(); code != exitFailed {
		t.Errorf("exit code %d, want %d: an adapter has failed", code, exitFailed)
	}
}

// Two accounts of one platform, where places and people have the same ids: each
// answers where it was asked, and who may write to one is a stranger to the
// other.
func TestTwoAccounts(t *testing.T) {
	h := newHouse(t)
	second := adaptertest.NewTelegram(adaptertest.TelegramOptions{Token: token})
	h.amend("[providers.fake]", `[adapters.second]
type = "telegram"
token = "${TOKEN}"
api_url = "`+second.Serve(t)+`"
[providers.fake]`)
	h.amend(`owners = ["telegram:1111"]`, "owners = [\"telegram:1111\"]\nmembers = [\"second:2222\"]")
	olga, bob := second.User(1111, "Olga"), second.User(2222, "Bob")
	p := h.run()
	h.direct.Say(h.owner, "q1")
	h.shows(h.direct, "a1.")
	second.Private(bob).Say(bob, "q2")
	h.shows(second.Private(bob), "a2.")
	second.Private(olga).Say(olga, "q3")
	h.shows(second.Private(olga), "I do not know you")
	stranger := h.tg.User(2222, "Bob")
	h.tg.Private(stranger).Say(stranger, "q4")
	h.shows(h.tg.Private(stranger), "I do not know you")
	h.shows(h.direct, "accept second:1111")
	h.shows(h.direct, "accept telegram:2222")
	if n := len(h.model.asks()); n != 2 {
		t.Errorf("the model was asked %d times, want 2", n)
	}
	for _, c := range []*adaptertest.TelegramChat{h.direct, second.Private(bob), second.Private(olga), h.tg.Private(stranger)} {
		list := slices.DeleteFunc(own(c), func(s adaptertest.Shown) bool { return strings.Contains(s.Text, "asks to be let in") })
		if len(list) != 1 {
			t.Errorf("shown is %v, want one message", list)
		}
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	withStore(t, filepath.Join(h.dir, "data"), func(_ *store.Store, b store.Books) {
		places := map[string]int{}
		for _, th := range b.Threads {
			places[th.Place.String()]++
		}
		if len(b.Threads) != 2 || places["telegram:1111"] != 1 || places["second:2222"] != 1 {
			t.Errorf("the threads are at %v", places)
		}
	})
}

func TestUsageErrors(t *testing.T) {
	h := newHouse(t)
	toml, err := os.ReadFile(filepath.Join(h.dir, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	good := strings.TrimSpace(string(toml)) + "\n"
	for name, c := range map[string]struct{ from, to, want string }{
		"unknown key": {"level", "levle", `config\.toml:\d+: log\.levle.*did you mean "level"`},
		"unset":       {"${KEY}", "${KEZ}", `config\.toml:\d+: .*api_key.*KEZ`},
		"wrong type":  {`level = "debug"`, `level = 7`, `config\.toml:\d+: .*log\.level`},
		"no TOML":     {`level = "debug"`, `level =`, `config\.toml:\d+`},
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			h.configure(strings.Replace(good, c.from, c.to, 1))
			code, out, errs := invoke(t, h.start)
			if code != exitUsage || out != "" {
				t.Errorf("exit code %d and output %q, want %d and none", code, out, exitUsage)
			}
			want := regexp.MustCompile(c.want)
			if lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n"); len(lines) != 1 || !want.MatchString(lines[0]) {
				t.Errorf("it says %q, want a line like %s", errs, c.want)
			}
		})
	}
}

func TestCommandLineErrors(t *testing.T) {
	h := newHouse(t)
	for _, args := range [][]string{{"run", "now"}, {"trace"}, {"--nonsense"}, {"chat", "a", "b"}} {
		if code, _, errs := invoke(t, invocation{dir: h.dir, args: args}); code != exitUsage || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v ends with %d and %q, want %d and one line", args, code, errs, exitUsage)
		}
	}
}

func TestStopWhenIdle(t *testing.T) {
	h := newHouse(t)
	best := time.Hour
	for range 5 { // a busy machine only adds time
		p := h.run()
		began := time.Now()
		if code := p.stop(); code != 0 {
			t.Fatalf("exit code %d:\n%s", code, p.log.String())
		}
		if best = min(best, time.Since(began)); best < 200*time.Millisecond {
			return
		}
	}
	t.Errorf("an idle process takes %s to stop, want 200 ms", best)
}

func TestStopLetsAnAnswerFinish(t *testing.T) {
	h := newHouse(t)
	held := make(chan struct{})
	h.model.does(func(a inquiry) act {
		do := answers(a)
		do.hold = held
		return do
	})
	p := h.run()
	h.direct.Say(h.owner, "q1")
	eventually(t, "the model to be asked", func() bool { return len(h.model.asks()) == 1 })
	eventually(t, "it to listen", h.tg.Polling)
	p.signal(syscall.SIGTERM)
	eventually(t, "it to listen no more", func() bool { return !h.tg.Polling() })
	polls := len(h.tg.Calls("getUpdates"))
	h.direct.Say(h.owner, "q2")
	close(held)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.log.String())
	}
	if list := own(h.direct); len(list) != 1 || list[0].Text != "The answer is a1." {
		t.Errorf("shown is %v, want the answer alone", list)
	}
	if n := len(h.tg.Calls("getUpdates")); n > polls {
		t.Errorf("it polled %d times after it was told to stop", n-polls)
	}
	h.run()
	h.shows(h.direct, "a2.")
}

func TestSecondProcessIsToldWhoHoldsTheStore(t *testing.T) {
	h := newHouse(t)
	p := h.run()
	code, _, errs := invoke(t, h.start)
	if want := regexp.MustCompile(`in use by bellhop run \(pid \d+\)`); code != exitFailed || !want.MatchString(lastLine(errs)) {
		t.Errorf("exit code %d, %q, want %d and %s", code, errs, exitFailed, want)
	}
	h.direct.Say(h.owner, "q1")
	h.shows(h.direct, "a1.")
	if code := p.stop(); code != 0 {
		t.Errorf("the first ended with exit code %d", code)
	}
}

func TestTraceAndThreads(t *testing.T) {
	h := newHouse(t)
	p := h.run()
	h.direct.Say(h.owner, "Tell me q1")
	answer := h.shows(h.direct, "a1.")
	n, err := strconv.Atoi(answer.ID)
	if err != nil {
		t.Fatal(err)
	}
	h.direct.React(h.owner, n, "👍")
	h.tg.Wait(t, "the reaction to be taken in", func() bool { return h.tg.Unconfirmed() == 0 })
	_, threads, _ := h.invoke("", "threads")
	if want := regexp.MustCompile(`(?m)^t\w+ +telegram:1111 +assistant +2 `); !want.MatchString(threads) {
		t.Errorf("threads prints %q, want a line like %s", threads, want)
	}
	wantTask := regexp.MustCompile(`(?m)^i\w+ +done +assistant +telegram:1111 .* Tell me q1$`)
	_, tasks, _ := h.invoke("", "tasks")
	if !wantTask.MatchString(tasks) {
		t.Errorf("tasks prints %q, want a line like %s", tasks, wantTask)
	}
	wantRun := regexp.MustCompile(`(?m)^r\w+ +done +assistant +t\w+ +0 `)
	_, runs, _ := h.invoke("", "runs")
	if !wantRun.MatchString(runs) {
		t.Errorf("runs prints %q, want a line like %s", runs, wantRun)
	}
	_, activity, _ := h.invoke("", "activity")
	for _, want := range []string{"message.accepted", "wakes @assistant", "run.done", "post.delivered", "feedback.given"} {
		if !strings.Contains(activity, want) || strings.Contains(activity, "q1") {
			t.Errorf("the activity log does not say %q, or says what was written:\n%s", want, activity)
		}
	}
	if _, quiet, _ := h.invoke("", "activity", "--level", "warn"); quiet != "" {
		t.Errorf("there are warnings: %s", quiet)
	}
	for _, flags := range [][]string{{"--level", "loud"}, {"--thread", "m1"}, {"--since", "soon"}} {
		if code, _, _ := h.invoke("", append([]string{"activity"}, flags...)...); code != exitUsage {
			t.Errorf("activity %v: exit code %d", flags, code)
		}
	}
	if code := p.stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if _, alone, _ := h.invoke("", "activity"); alone != activity {
		t.Errorf("without an appliance, activity prints %q, not %q", alone, activity)
	}
	id := string(idOf(h.books(), "q1"))
	if _, alone, _ := h.invoke("", "tasks"); alone != tasks {
		t.Errorf("without an appliance, tasks prints %q, not %q", alone, tasks)
	}
	code, alone, errs := h.invoke("", "trace", id)
	if code != 0 {
		t.Fatalf("trace without an appliance: %s", errs)
	}
	for _, want := range []string{"message " + id, "Tell me q1", "wakes @assistant (i", "the default bot there", "begins r", "is done", "piece 1 of 1, is platform message", "is shown", "👍 from telegram:1111"} {
		if !strings.Contains(alone, want) {
			t.Errorf("the trace does not say %q:\n%s", want, alone)
		}
	}
	h.run()
	if _, beside, errs := h.invoke("", "trace", id); beside != alone {
		t.Errorf("beside an appliance, trace prints %q and %q, without one %q", beside, errs, alone)
	}
	if _, again, errs := h.invoke("", "threads"); again != threads {
		t.Errorf("threads prints %q and %q, and %q before", again, errs, threads)
	}
	thread, _, _ := strings.Cut(threads[strings.Index(threads, "\n")+1:], " ")
	if _, list, errs := h.invoke("", "trace", thread); !strings.Contains(list, id) || !strings.Contains(list, "Tell me q1") {
		t.Errorf("trace of thread %s prints %q and %q, which leads nobody to %s", thread, list, errs, id)
	}
	for id, want := range map[string]string{"mzz": "nothing here has the id mzz", "tzz": "no thread tzz has messages here", "!": "!"} {
		if code, _, errs := h.invoke("", "trace", id); code != exitFailed || !strings.Contains(errs, want) {
			t.Errorf("trace %s ends with %d and %q", id, code, errs)
		}
	}
}

// A killed process leaves its socket behind, where nobody answers.
func TestCommandsAfterAKill(t *testing.T) {
	h := newHouse(t)
	if code, _, errs := h.invoke("", "threads"); code != exitFailed || !strings.Contains(errs, "there is no store") {
		t.Errorf("before the first start, threads ends with %d and %q", code, errs)
	}
	p := h.run()
	h.direct.Say(h.owner, "q1")
	h.shows(h.direct, "a1.")
	p.kill()
	if code, out, errs := h.invoke("", "threads"); code != 0 || !strings.Contains(out, "telegram:1111") {
		t.Errorf("threads ends with %d, prints %q and %q", code, out, errs)
	}
	h.run()
	h.direct.Say(h.owner, "q2")
	h.shows(h.direct, "a2.")
	if code, out, errs := h.invoke("", "threads"); code != 0 || !strings.Contains(out, "telegram:1111") {
		t.Errorf("beside an appliance, threads ends with %d, prints %q and %q", code, out, errs)
	}
}

func TestChat(t *testing.T) {
	h := newHouse(t)
	talk := func(where, line, want string) {
		t.Helper()
		code, out, errs := h.invoke(line+"\n", "chat")
		if code != 0 || out != want+"\n" {
			t.Errorf("%s, chat ends with %d, prints %q and %q", where, code, out, errs)
		}
	}
	talk("without an appliance", "q1", "The answer is a1.")
	p := h.run()
	talk("beside an appliance", "q2", "The answer is a2.")
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	talk("after it", "q3", "The answer is a3.")
}

func TestVersionAndCheck(t *testing.T) {
	h := newHouse(t)
	if code, out, _ := invoke(t, invocation{dir: h.dir, args: []string{"version"}}); code != 0 || out != "bellhop "+version+"\n" {
		t.Errorf("version ends with %d and prints %q", code, out)
	}
	code, out, errs := h.invoke("", "check")
	if code != 0 || !strings.Contains(out, "is in order") || strings.Contains(out+errs, token) || strings.Contains(out+errs, apiKey) {
		t.Errorf("check ends with %d and prints %q and %q", code, out, errs)
	}
}

func TestWithoutConfigurationADemoAnswers(t *testing.T) {
	for _, command := range []string{"run", "chat"} {
		code, out, errs := invoke(t, invocation{dir: t.TempDir(), stdin: "hello\n", args: []string{command}})
		if code != 0 || strings.TrimSpace(out) == "" || !strings.Contains(errs, "There is no configuration yet") {
			t.Errorf("%s ends with %d, prints %q and %q", command, code, out, errs)
		}
	}
}

// TestPipeIsNotLimited: who has the terminal has the store; a file of lines is
// answered to its end, whatever the limit is.
func TestPipeIsNotLimited(t *testing.T) {
	h := newHouse(t)
	h.amend("[access]", "[limits]\nmessages_per_minute = 2\n[access]")
	const lines = 5
	code, out, errs := h.invoke(strings.Repeat("hello\n", lines), "chat")
	if n := strings.Count(out, "Nothing was asked."); code != 0 || n != lines || strings.Contains(out, "I take") {
		t.Errorf("chat ends with %d, %d answers are there, and it prints %q and %q", code, n, out, errs)
	}
}

func TestStrangerIsToldTheirID(t *testing.T) {
	h := newHouse(t)
	h.run()
	stranger := h.tg.User(4242, "Stranger")
	chat := h.tg.Private(stranger)
	chat.Say(stranger, "q1")
	h.shows(chat, "telegram:4242")
	chat.Say(stranger, "q2")
	h.direct.Say(h.owner, "q3")
	h.shows(h.direct, "a3.")
	if list := own(chat); len(list) != 1 {
		t.Errorf("the stranger is shown %v, want one refusal", list)
	}
	if n := len(h.model.asks()); n != 1 {
		t.Errorf("the model was asked %d times, want 1", n)
	}
}

func TestModelOutOfReach(t *testing.T) {
	h := newHouse(t)
	h.model.does(func(inquiry) act { return act{cut: true} })
	h.run()
	h.direct.Say(h.owner, "q1")
	notice := h.shows(h.direct, "⚠")
	if !strings.Contains(notice.Text, "I cannot reach the model fake/fake") || !slices.Equal(notice.Buttons, []string{"Retry"}) {
		t.Errorf("the notice is %+v", notice)
	}
	h.model.does(answers)
	h.direct.Say(h.owner, "/retry")
	h.shows(h.direct, "a1.")
	if list := own(h.direct); len(list) != 3 {
		t.Errorf("shown is %v, want a notice, the command's reply and an answer", list)
	}
}

func TestRetryButton(t *testing.T) {
	h := newHouse(t)
	h.model.does(func(inquiry) act { return act{cut: true} })
	h.run()
	h.direct.Say(h.owner, "q1")
	notice := h.shows(h.direct, "⚠")
	id, err := strconv.Atoi(notice.ID)
	if err != nil {
		t.Fatal(err)
	}
	h.model.does(answers)
	for range 2 {
		if _, err := h.direct.Press(h.owner, id, "Retry"); err != nil {
			t.Fatal(err)
		}
	}
	h.shows(h.direct, "a1.")
	h.tg.Wait(t, "the button to go", func() bool { return len(own(h.direct)[0].Buttons) == 0 })
	h.tg.Wait(t, "the second press to be refused", func() bool { return len(h.tg.Alerts(h.owner)) == 1 })
	if list := own(h.direct); len(list) != 2 {
		t.Errorf("shown is %v, want a notice and an answer", list)
	}
}

func TestModelRefusesTheKey(t *testing.T) {
	h := newHouse(t)
	h.model.does(func(a inquiry) act { return act{status: http.StatusUnauthorized, says: "no such key: " + a.key} })
	p := h.run()
	h.direct.Say(h.owner, "q1")
	h.shows(h.direct, "API key")
	p.stop()
	silent(t, h, p)
}

// lastLine is what a person sees last.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// silent checks that no secret was written or shown anywhere.
func silent(t *testing.T, h *house, p *program) {
	t.Helper()
	for what, text := range map[string]string{"output": p.out.String(), "log": p.log.String(), "chats": h.tg.String()} {
		for _, secret := range []string{token, apiKey} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s has a secret in it:\n%s", what, text)
			}
		}
	}
}
