package coretest

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	chaosSeed = flag.Uint64("seed", 1, "first seed of TestChaos")
	chaosActs = flag.Int("operations", 300, "least number of operations of TestChaos, on each engine")
)

// TestChaos holds talks that nobody wrote, on every engine: people write, change
// their minds, decide what they are asked and give commands while the platform
// fails and the process dies, at random. Every line is followed by the checker,
// and in the end everything must have come to rest. A failure prints its seed
// and its talk, which can be shortened and kept as a script.
//
// An operation is what somebody does, or what happens to the process or the
// clock; what models will say and which calls will fail is not counted.
func TestChaos(t *testing.T) {
	for _, on := range slices.Sorted(maps.Keys(engines)) {
		t.Run(on, func(t *testing.T) {
			t.Parallel()
			began, acts, seed := time.Now(), 0, *chaosSeed
			for ; acts < *chaosActs && !t.Failed(); seed++ {
				text := chaos(rand.New(rand.NewPCG(seed, 0)))
				synctest.Test(t, func(t *testing.T) {
					w, lines := newWorldOn(t, text, on)
					defer w.end()
					w.hold(lines)
					acts += w.acts
					if t.Failed() {
						t.Logf("seed %d, the talk:\n%s", seed, text)
					}
				})
			}
			t.Logf("%s: %d operations in %d talks, seeds %d to %d, in %s", on, acts, seed-*chaosSeed, *chaosSeed, seed-1, time.Since(began).Round(time.Second))
		})
	}
}

// chaos writes a talk.
func chaos(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("adapter chat once=%s max=%s signs=%s buttons=%s", pick("edit", "key", "readback"), pick("12", "4096"), pick("true", "false"), pick("true", "true", "false"))
	say("max_runs %s", pick("1", "2", "64"))
	say("member bob")
	if r.IntN(3) == 0 {
		say("rule all allow nothing")
	}
	if r.IntN(3) == 0 {
		say("pairing")
	}
	busy := pick("queue", "steer")
	say("bot chief history=24000/%s busy=%s", pick("4", "80"), busy)
	say("bot engineer")
	say("webhook ci")
	if r.IntN(4) == 0 {
		say("classifier 0.6 small")
	}
	say("llm engineer always %s", pick("say Done.", "wait 5s say @chief it is done."))
	say("llm chief always %s", pick("say Yes, of course, at once.", "wait 1s say Yes, of course.", "slow 700ms Yes, of course, slowly.", "wait 40s say Yes, at last."))
	if busy == "steer" {
		say(`llm chief tool dig {"what":"20s"}`)
	}
	if strings.Contains(b.String(), "classifier") {
		say("llm small always %s", pick(`say {"bot": "engineer", "confidence": 1}`, `wait 1s say {"bot": "engineer", "confidence": 1}`, "error overload", `wait 12s say {"bot": "chief", "confidence": 1}`))
	}
	say("say dm alice Hello.")
	length := 5 + r.IntN(15)
	if r.IntN(8) == 0 {
		length *= 4
	}
	for range length {
		switch r.IntN(28) {
		case 0, 1, 2, 3:
			say("say %s", pick("dm alice Hello.", "dm bob Hello there.", "#ops bob @bellhop hello", "dm alice Are you there?"))
		case 4:
			say("say %s %s", pick("dm alice", "#ops alice"), pick("/stop", "/new", "/retry", "/status", "/cancel m2", "/cancel i7", "/cancel ra", "/resume 1", "/threads", "/tasks", "/task i7", "/retry i7"))
		case 5:
			say("again")
		case 6, 7:
			say("advance %s", pick("50ms", "1s", "3500ms", "30s", "10m"))
		case 8:
			say("llm chief %s", pick("error overload", "tool look {}", "tool note {}", `tool dig {"what":"20s"}`, `wait 9s tool dig {"what":"9s"}`, "tool fire {}", "empty", "truncated", `length "Half of"`))
		case 9:
			say("%s", pick("crash", "stop\nstart"))
		case 10:
			what := pick("accept", "begin", "opened", "step", "join", "settle", "chunk", "receipt", "model", "tool", "open", "post", "edit", "update", "resolve")
			say("crash %s %s", pick("before", "after"), what)
		case 11:
			say("fault %s %s", pick("open", "post", "edit", "update"), pick("rate 5s", "lost", "unknown", "notsent", "hang", "slow 2s"))
		case 12:
			say("fault resolve %s", pick("rate 5s", "unknown", "hang", "slow 2s"))
		case 13:
			say("llm chief say @engineer please.")
		case 14:
			say("%s", pick("delete dm/alice last", "delete #ops last", "delete dm/alice first", "edit dm/alice first More words."))
		case 15:
			say("fault commit %s %s", pick("1", "2", "3"), pick("before", "full"))
		case 16:
			say("send ci dm/alice key=%s %s", pick("1", "2", "3"), pick("The build is red.", "@engineer look", "@chief look", "re=m2 @engineer fix it"))
		case 17:
			say("%s", pick("say dm alice @ci build it", "say dm bob @ci and @engineer, look", "llm chief say @ci please.", "say dm alice /cancel i9"))
		case 18:
			say("%s", pick("fault hook every notsent", "fault hook off", "fault hook lost", "fault hook hang", "fault hook refused", "crash before hook", "crash after hook", "crash before attempted", "crash after say"))
		case 19, 20:
			say("llm %s tool ask_human %s", pick("chief", "chief", "engineer"), pick(`{"question":"Which?","choices":["red","blue"]}`, `{"question":"When?"}`))
		case 21:
			say("press %s card %s", pick("dm/alice alice", "#ops bob", "#ops alice", "#ops mallory"), pick("red", "blue", "Allow once", "Allow for this task", "Always", "Deny", "answer 1 x"))
		case 22:
			say("say %s %s", pick("dm alice", "dm bob", "#ops bob", "#ops alice"), pick("red", "@bellhop 2", "yes", "no", "/answer at noon", "/allow", "/deny", "/inbox"))
		case 23:
			say("advance %s", pick("6m", "11m", "61m", "25h"))
		case 26:
			say("edit %s %s", pick("dm/alice last", "dm/alice last", "dm/bob last", "#ops last"),
				pick("Other words.", "@bellhop Other words.", "@engineer look", "@bellhop @engineer look", "@chief and @engineer, look", "@ci build it", "@carol what do you say?"))
		case 27:
			say("react %s %s %s", pick("dm/alice alice", "#ops bob", "#ops mallory", "dm/bob bob"), pick("last", "ours"), pick("🛑", "🔁", "👍"))
		case 25:
			say("say dm %s", pick("mallory Hello?", "mallory Let me in.", "mallory /start 0000-0002", "alice /pair 0000-0001", "alice /pair new", "alice /pair remove chat:mallory", "bob /link", "mallory /link 0000-0002"))
		case 24:
			say("crash %s %s", pick("before", "after"), pick("park", "lapse", "accept"))
		}
	}
	say("fault hook off\nrest\ncrash off\nfault commit off\nadvance 25h\nadvance 25h\nrest") // nobody answers what is still open
	return b.String()
}
