package store

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"bellhop/core"
)

// The activity log: rows in the order of time, each written by the transaction
// that does the thing, and an index by what they are about. A row is small: it
// points at what it describes, and says nothing that its event says already.

// activityRow is an activity as it is stored. Its time is in its key, what it
// says in short names: there are several for each turn.
type activityRow struct {
	Event    core.Event  `json:"e"`
	Why      core.Reason `json:"w,omitempty"`
	Who      string      `json:"a,omitempty"` // a PersonID, which has a colon, or a bot's handle
	Thread   core.ID     `json:"t,omitempty"`
	Place    *core.Place `json:"p,omitempty"` // nil: the thread's
	Messages []core.ID   `json:"m,omitempty"`
	Items    []core.ID   `json:"i,omitempty"`
	Run      core.ID     `json:"r,omitempty"`
	Bots     []string    `json:"b,omitempty"`
	Took     int64       `json:"s,omitempty"` // milliseconds
	Detail   string      `json:"d,omitempty"`
}

// perMilli is how many activities may have the same time: those beyond are
// dated later.
const perMilli = 16

// activityAt is the least ID that an activity of the time can have.
func activityAt(t time.Time) uint64 { return uint64(max(t.UnixMilli(), 0)) << perMilli }

func activityKey(n uint64) []byte { return u64([]byte(famActivity), n) }

// log notes an activity. The caller writes, too.
func (t *tx) log(a core.Activity) error {
	if t.logged == 0 {
		last, err := t.ScanBack([]byte(famActivity), after([]byte(famActivity)), 1)
		if err != nil {
			return err
		}
		if len(last) > 0 {
			t.logged = seqOf(last[0].Key)
		}
	}
	t.logged = max(activityAt(t.Now()), t.logged+1)
	row := activityRow{Event: a.Event, Why: a.Why, Who: a.Actor.ID, Thread: a.Thread, Messages: a.Messages, Items: a.Items,
		Run: a.Run, Bots: a.Bots, Took: a.Took.Milliseconds(), Detail: brief(a.Detail)}
	if a.Thread == "" && !a.Place.IsZero() {
		row.Place = &a.Place
	}
	if err := t.insert(activityKey(t.logged), row); err != nil {
		return err
	}
	for _, key := range row.index(t.logged, a.Place) {
		if err := t.Put(key, nil); err != nil {
			return err
		}
	}
	return nil
}

// index are the keys that lead to the row: as few as will do, for each costs a
// turn more than the row itself. What is decided of a message leads from it and
// from its items, how a run ended from its items; those and the run are one by
// their number. What only happens on the way to that needs none, nor does what
// people do besides. Where a message left no trace, its place leads to why.
func (r *activityRow) index(n uint64, p core.Place) [][]byte {
	ids := append(slices.Clone(r.Items), r.Run)
	switch r.Event {
	case core.RunPicked, core.RunJoined, core.CommandUsed, core.CommandRefused:
		return nil
	case core.RunDone, core.RunFailed, core.RunStopped:
	case core.MessageIgnored, core.MessageRefused, core.MessageLimited:
		return [][]byte{aboutKey(placeNumber(p), n)}
	default:
		ids = append(ids, r.Messages...)
	}
	var about []uint64
	for _, id := range ids {
		if seq := id.Seq(); seq > 0 && !slices.Contains(about, seq) {
			about = append(about, seq)
		}
	}
	keys := make([][]byte, len(about))
	for i, of := range about {
		keys[i] = aboutKey(of, n)
	}
	return keys
}

func aboutKey(of, n uint64) []byte { return u64(u64([]byte(famAbout), of), n) }

// placeNumber stands for a place in the index. Its highest bit is set: no ID's
// number is as large. Two places may have the same one.
func placeNumber(p core.Place) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(placeText(p))) // never fails
	return h.Sum64() | 1<<63
}

// brief is a detail as it is kept: on one line, and not long.
func brief(s string) string {
	if strings.ContainsAny(s, "\n\r\t") {
		s = strings.Join(strings.Fields(s), " ")
	}
	if utf8.RuneCountInString(s) <= core.MaxDetail {
		return s
	}
	return string([]rune(s)[:core.MaxDetail-1]) + "…"
}

// activity decodes the row under the number n. A thread's place is looked up.
func (t *tx) activity(n uint64, places map[core.ID]core.Place) (core.Activity, bool, error) {
	row, ok, err := get[activityRow](t, activityKey(n))
	if err != nil || !ok {
		return core.Activity{}, false, err
	}
	a := core.Activity{ID: core.NewID(core.KindActivity, n), Time: time.UnixMilli(int64(n >> perMilli)).UTC(), Event: row.Event, Why: row.Why,
		Actor: actorOf(row.Who), Thread: row.Thread, Messages: row.Messages, Items: row.Items, Run: row.Run, Bots: row.Bots,
		Took: time.Duration(row.Took) * time.Millisecond, Detail: row.Detail}
	switch p, known := places[row.Thread]; {
	case row.Place != nil:
		a.Place = *row.Place
	case known:
		a.Place = p
	case row.Thread != "":
		th, _, err := get[core.Thread](t, idKey(famThread, row.Thread))
		if err != nil {
			return a, false, err
		}
		a.Place, places[row.Thread] = th.Place, th.Place
	}
	return a, true, nil
}

// actorOf is the actor with the ID: a person's names their adapter.
func actorOf(id string) core.Actor {
	switch {
	case id == "":
		return core.Actor{Kind: core.SystemActor}
	case strings.Contains(id, ":"):
		return core.Actor{Kind: core.HumanActor, ID: id}
	}
	return core.Actor{Kind: core.BotActor, ID: id}
}

// about lists the newest activities of a number that keep accepts, oldest
// first, at most limit.
func (t *tx) about(of uint64, limit int, keep func(core.Activity) bool) ([]core.Activity, error) {
	places := map[core.ID]core.Place{}
	var out []core.Activity
	prefix := u64([]byte(famAbout), of)
	for to := after(prefix); len(out) < limit; {
		kvs, err := t.ScanBack(prefix, to, limit)
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			a, ok, err := t.activity(seqOf(kv.Key), places)
			if err != nil {
				return nil, err
			}
			if ok && len(out) < limit && keep(a) {
				out = append(out, a)
			}
		}
		if len(kvs) < limit {
			break
		}
		to = kvs[len(kvs)-1].Key
	}
	slices.Reverse(out)
	return out, nil
}

// maxAbout bounds what is read of the log about one thing.
const maxAbout = 200

// lifeOf is what the log has of things that have these IDs, and of what those
// activities name: of a message, its runs; of a run, its messages. Oldest first.
func (t *tx) lifeOf(ids ...core.ID) ([]core.Activity, error) {
	all := func(core.Activity) bool { return true }
	seen := map[core.ID]core.Activity{}
	asked := map[uint64]bool{0: true}
	for range 3 { // an item, its message, its run
		var next []core.ID
		for _, id := range ids {
			if asked[id.Seq()] {
				continue
			}
			asked[id.Seq()] = true
			found, err := t.about(id.Seq(), maxAbout, all)
			if err != nil {
				return nil, err
			}
			for _, a := range found {
				seen[a.ID] = a
				if a.Event != core.HandOffSent && a.Event != core.HoldReleased { // else it leads from bot to bot, without end
					next = append(append(append(next, a.Messages...), a.Items...), a.Run)
				}
			}
		}
		ids = next
	}
	out := make([]core.Activity, 0, len(seen))
	for _, a := range seen {
		out = append(out, a)
	}
	slices.SortFunc(out, func(x, y core.Activity) int { return cmp.Compare(x.ID.Seq(), y.ID.Seq()) })
	return out, nil
}

// Note writes activities that belong to no other transaction: how adapters are,
// say.
func (s *Store) Note(ctx context.Context, all ...core.Activity) error {
	return s.update(ctx, func(t *tx) error {
		for _, a := range all {
			if err := t.log(a); err != nil {
				return err
			}
		}
		return nil
	})
}

// Wanted says which activities Activities lists.
type Wanted struct {
	Thread core.ID   // empty: all
	Since  time.Time // zero: all that is kept
	After  core.ID   // only those after that one; empty: all
	Level  string    // that one and those above; empty: all
	Limit  int       // at most so many: the newest, or with After the oldest
}

// wantedPage is how many rows Activities reads at once, and wantedReach the
// most that it looks at.
const (
	wantedPage  = 500
	wantedReach = 50_000
)

// Activities lists the log, oldest first, and says up to where it was read: what
// comes after that is not in the list, whether it is wanted or not. upto is empty
// when the log is.
func (s *Store) Activities(ctx context.Context, w Wanted) (list []core.Activity, upto core.ID, err error) {
	err = s.view(ctx, func(t *tx) (err error) {
		list, upto, err = t.activities(w)
		return err
	})
	return list, upto, err
}

func (t *tx) activities(w Wanted) (list []core.Activity, upto core.ID, err error) {
	from, to := activityKey(max(w.After.Seq()+1, activityAt(w.Since))), after([]byte(famActivity))
	places := map[core.ID]core.Place{}
	upto = w.After
	for page := range wantedReach / wantedPage {
		scan := t.ScanBack
		if w.After != "" {
			scan = t.Scan
		}
		kvs, err := scan(from, to, wantedPage)
		if err != nil {
			return nil, "", err
		}
		for i, kv := range kvs {
			if len(list) == w.Limit {
				break
			}
			a, ok, err := t.activity(seqOf(kv.Key), places)
			if err != nil {
				return nil, "", err
			}
			if ok && w.admits(&a) {
				list = append(list, a)
			}
			if w.After != "" || page == 0 && i == 0 {
				upto = core.NewID(core.KindActivity, seqOf(kv.Key))
			}
		}
		if len(kvs) < wantedPage || len(list) == w.Limit {
			break
		}
		if last := kvs[len(kvs)-1].Key; w.After != "" {
			from = append(slices.Clone(last), 0)
		} else {
			to = slices.Clone(last)
		}
	}
	if w.After == "" {
		slices.Reverse(list)
	}
	return list, upto, nil
}

func (w *Wanted) admits(a *core.Activity) bool {
	levels := []string{core.LevelInfo, core.LevelWarn, core.LevelError}
	return (w.Thread == "" || a.Thread == w.Thread) && slices.Index(levels, a.Level()) >= slices.Index(levels, w.Level)
}
