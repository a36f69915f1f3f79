package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bellhop/core"
)

// Check reads everything stored and returns what contradicts the ledger's
// invariants, a sentence each; nothing, if all is well. It changes nothing, and
// leaves damaged rows where they are. It costs as much as there is stored: it
// is for tests and for people, never for what runs.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var c *checker
	err := s.view(ctx, func(t *tx) error {
		c = &checker{tx: t}
		if err := c.load(); err != nil {
			return err
		}
		c.checkThreads()
		c.checkForks()
		c.checkTitles()
		c.checkMessages()
		c.checkItems()
		c.checkRuns()
		c.checkPosts()
		c.checkHeld()
		c.checkAsks()
		c.checkIndexes()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.wrong, nil
}

// checker holds the ledger's rows by ID or by key.
type checker struct {
	*tx
	wrong []string

	threads  map[core.ID]core.Thread
	places   map[string]placeRow
	archived map[string]placeRow
	lineages map[core.ID]lineageRow
	titles   map[core.ID]titleRow
	messages map[core.ID][]core.Message // versions, oldest first
	items    map[core.ID]core.Item
	queue    map[core.ID]core.Item
	runs     map[core.ID]core.Run
	open     map[core.ID]openRow
	steps    map[core.ID][]core.Step
	posts    map[core.ID]core.Post
	rows     map[core.ID][]core.Row
	held     map[string]heldRow
	asks     map[core.ID]core.Ask
	openAsks map[core.ID]openAsk
	aliases  map[string]core.Moving // by aliasKey
	currents map[string]core.Moving // by currentKey
	platform map[string]platformRow
	journal  map[string]journalRow
	days     map[string]bool // events of famJournalDay
	itemsAt  map[core.ID][]core.ID
	gone     map[core.ID]bool     // items that were pruned
	had      map[core.ID][]string // by message: the bots that have had them
	own      map[string]bool      // keys of famOwn
	forBot   map[string]bool      // keys of famFor
}

func (c *checker) say(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// keys calls f for every pair of a family.
func (c *checker) keys(family string, f func(key, value []byte)) error {
	kvs, err := c.Scan([]byte(family), after([]byte(family)), 0)
	for _, kv := range kvs {
		f(kv.Key, kv.Value)
	}
	return err
}

// read decodes the rows of a family. at is the key that a row belongs under;
// add keeps it.
func read[T any](c *checker, family string, at func(T) []byte, add func(key string, v T)) error {
	return c.keys(family, func(key, raw []byte) {
		var v T
		if err := decode(raw, &v); err != nil {
			c.say("row %q: %v", key, err)
			return
		}
		if at != nil && !bytes.Equal(at(v), key) {
			c.say("row %q holds what belongs under %q", key, at(v))
			return
		}
		add(string(key), v)
	})
}

// byID reads a family whose keys are the numbers of its rows.
func byID[T any](c *checker, family string, id func(T) core.ID) (map[core.ID]T, error) {
	all := map[core.ID]T{}
	return all, read(c, family, func(v T) []byte { return idKey(family, id(v)) }, func(_ string, v T) { all[id(v)] = v })
}

// byKey reads a family whose rows do not say their keys.
func byKey[T any](c *checker, family string) (map[string]T, error) {
	all := map[string]T{}
	return all, read(c, family, nil, func(key string, v T) { all[key] = v })
}

func (c *checker) load() error {
	c.messages, c.queue, c.open = map[core.ID][]core.Message{}, map[core.ID]core.Item{}, map[core.ID]openRow{}
	c.steps, c.rows, c.days, c.itemsAt = map[core.ID][]core.Step{}, map[core.ID][]core.Row{}, map[string]bool{}, map[core.ID][]core.ID{}
	c.gone, c.had = map[core.ID]bool{}, map[core.ID][]string{}
	var err error
	steps := []func(){
		func() { c.threads, err = byID(c, famThread, func(v core.Thread) core.ID { return v.ID }) },
		func() { c.items, err = byID(c, famItem, func(v core.Item) core.ID { return v.ID }) },
		func() { c.runs, err = byID(c, famRun, func(v core.Run) core.ID { return v.ID }) },
		func() { c.posts, err = byID(c, famPost, func(v core.Post) core.ID { return v.ID }) },
		func() { c.places, err = byKey[placeRow](c, famPlace) },
		func() {
			c.archived = map[string]placeRow{}
			err = read(c, famArchived, archivedKey, func(key string, r placeRow) { c.archived[key] = r })
		},
		func() { c.lineages, err = byID(c, famLineage, func(r lineageRow) core.ID { return r.Thread }) },
		func() { c.titles, err = byID(c, famTitle, func(r titleRow) core.ID { return r.Thread }) },
		func() { c.held, err = byKey[heldRow](c, famHeld) },
		func() { c.platform, err = byKey[platformRow](c, famPlatform) },
		func() { c.journal, err = byKey[journalRow](c, famJournal) },
		func() {
			err = read(c, famCursor, func(r cursorRow) []byte { return cursorKey(dayOf(r.Time), r.Place) }, func(string, cursorRow) {})
		},
		func() { c.aliases, err = byKey[core.Moving](c, famAlias) },
		func() { c.currents, err = byKey[core.Moving](c, famCurrent) },
		func() {
			err = read(c, famMessage, func(m core.Message) []byte { return messageKey(m.Thread, m.ID, m.Version) },
				func(_ string, m core.Message) { c.messages[m.ID] = append(c.messages[m.ID], m) })
		},
		func() {
			err = read(c, famQueue, func(it core.Item) []byte { return queueKey(it.Bot, it.ID) },
				func(_ string, it core.Item) { c.queue[it.ID] = it })
		},
		func() {
			err = read(c, famOpenRun, nil, func(key string, o openRow) { c.open[core.NewID(core.KindRun, seqOf([]byte(key)))] = o })
		},
		func() {
			err = read(c, famStep, func(st core.Step) []byte { return stepKey(st.Run, st.N) },
				func(_ string, st core.Step) { c.steps[st.Run] = append(c.steps[st.Run], st) })
		},
		func() {
			err = read(c, famOutbox, func(r core.Row) []byte { return rowKey(r.Place, r.Seq, r.Chunk) },
				func(_ string, r core.Row) { c.rows[r.Post] = append(c.rows[r.Post], r) })
		},
		func() {
			err = c.keys(famJournalDay, func(key, _ []byte) { c.days[string(key[len(famJournalDay)+len("2006-01-02/"):])] = true })
		},
		func() {
			err = c.keys(famItemsOf, func(key, value []byte) {
				msg := core.NewID(core.KindMessage, binary.BigEndian.Uint64(key[len(famItemsOf):]))
				item := core.NewID(core.KindItem, seqOf(key))
				if len(value) > 0 {
					c.gone[item], c.had[msg] = true, append(c.had[msg], strings.TrimPrefix(string(value), unread))
					return
				}
				c.itemsAt[msg] = append(c.itemsAt[msg], item)
			})
		},
		func() { err = c.checkPairing() },
		func() { err = c.checkPermits() },
		func() { err = c.loadAsks() },
		func() { err = c.checkHumans() },
		func() { err = c.checkActivity() },
		func() {
			c.own = map[string]bool{}
			err = c.keys(famOwn, func(key, _ []byte) { c.own[string(key)] = true })
		},
		func() {
			c.forBot = map[string]bool{}
			err = c.keys(famFor, func(key, _ []byte) { c.forBot[string(key)] = true })
		},
		func() { err = c.checkFamilies() },
	}
	for _, step := range steps {
		if step(); err != nil {
			return err
		}
	}
	return nil
}

// checkPairing: who was let in has a role, no code is kept, and few work.
func (c *checker) checkPairing() error {
	err := read(c, famGrant, func(g core.Grant) []byte { return grantKey(g.Person) }, func(key string, g core.Grant) {
		if g.Role < core.Member {
			c.say("row %q lets nobody in: %s", key, g.Role)
		}
	})
	if err != nil {
		return err
	}
	if err := read(c, famRebuff, func(r core.Rebuff) []byte { return rebuffKey(r.Person) }, func(string, core.Rebuff) {}); err != nil {
		return err
	}
	requests, invitations := map[core.PersonID]bool{}, 0
	err = read(c, famPass, nil, func(key string, p passRow) {
		switch {
		case len(p.Hash) != sha256.Size || (p.Person == "") == (p.By == ""):
			c.say("row %q is no pass", key)
		case p.Person == "":
			invitations++
		case requests[p.Person]:
			c.say("row %q is a second request of %s", key, p.Person)
		default:
			requests[p.Person] = true
		}
	})
	if len(requests) > maxRequests || invitations > maxInvitations {
		c.say("%d requests and %d invitations are open", len(requests), invitations)
	}
	return err
}

// checkFamilies finds keys that belong to no family.
func (c *checker) checkFamilies() error {
	known := []string{famJournal, famJournalDay, famCursor, famAlias, famCurrent, famPlace, famArchived, famThread, famLineage, famTitle, famMessage, famFor, famPlatform, famItemsOf, famOwn, famQueue,
		famItem, famRun, famOpenRun, famStep, famHeld, famOutbox, famAsk, famOpenAsk, famPost, famGrant, famPass, famRebuff, famPermit, famHuman, famLinkCode, famBad,
		famActivity, famAbout, famSpent}
	slices.Sort(known)
	var from []byte
	for _, family := range append(known, "") {
		to := []byte{0xff}
		if family != "" {
			to = []byte(family)
		}
		kvs, err := c.Scan(from, to, 0)
		if err != nil {
			return err
		}
		for _, kv := range kvs {
			if string(kv.Key) != keySchema {
				c.say("key %q belongs to nothing", kv.Key)
			}
		}
		from = after([]byte(family))
	}
	return nil
}

// sorted are a map's keys in number order, so that findings read in the order
// of events.
func sorted[V any](m map[core.ID]V) []core.ID {
	return slices.SortedFunc(maps.Keys(m), func(a, b core.ID) int {
		return strings.Compare(string(idKey("", a)), string(idKey("", b)))
	})
}

func (c *checker) checkThreads() {
	for _, id := range sorted(c.threads) {
		th := c.threads[id]
		c.checkUnreached(th)
		if row := c.places[string(placeKey(th.Place))]; th.Archived.IsZero() && row.Thread != id {
			c.say("thread %s is current at %q, which has the thread %q", id, th.Place, row.Thread)
		}
		if row := placeOf(th); !th.Archived.IsZero() && th.Said() > 0 && c.archived[string(archivedKey(row))] != row {
			c.say("thread %s is archived, and not among those of %q", id, th.Place)
		}
	}
	for key, row := range c.archived {
		if th, ok := c.threads[row.Thread]; !ok || placeOf(th) != row || th.Said() == 0 {
			c.say("%q is the thread %s, which is empty, not archived then, or does not exist", key, row.Thread)
		}
	}
	for key, row := range c.places {
		th, ok := c.threads[row.Thread]
		switch {
		case !ok:
			c.say("place %q has the thread %s, which does not exist", key, row.Thread)
		case string(placeKey(th.Place)) != key:
			c.say("place %q has the thread %s, which is at %q", key, row.Thread, th.Place)
		case !th.Archived.IsZero():
			c.say("place %q has the thread %s, which is archived", key, row.Thread)
		}
	}
}

func (c *checker) checkMessages() {
	count := map[core.ID]int{}
	wrote := map[core.ID]core.ID{}
	for _, id := range sorted(c.messages) {
		versions := c.messages[id]
		m := versions[len(versions)-1]
		count[m.Thread]++
		if n := c.threads[m.Thread].Shared + count[m.Thread]; m.N != n {
			c.say("message %s is number %d of thread %s, and the %d. by ID", id, m.N, m.Thread, n)
		}
		for i, v := range versions {
			if v.Version != i || v.N != m.N || v.Thread != m.Thread {
				c.say("message %s: version %d, number %d of %s, stands in the place of version %d, number %d of %s", id, v.Version, v.N, v.Thread, i, m.N, m.Thread)
			}
		}
		if m.Answers != "" && (m.Sender.Kind != core.HumanActor && m.Sender.Kind != core.ExternalActor || !c.pruned(m.Answers) && c.runs[m.Answers].Bot != m.For) {
			c.say("message %s of a %s answers %s of @%s", id, m.Sender.Kind, m.Answers, m.For)
		}
		if m.Corrects != "" && c.messages[m.Corrects] == nil {
			c.say("message %s corrects %s, which does not exist", id, m.Corrects)
		}
		if bot := m.Sender.Kind == core.BotActor; bot != (m.Run != "") || bot && m.Hop == 0 || m.Sender.Kind == core.HumanActor && m.Hop > 0 {
			c.say("message %s of a %s has run %q and hop %d", id, m.Sender.Kind, m.Run, m.Hop)
		}
		if m.Run == "" {
			continue
		}
		run, ok := c.runs[m.Run]
		if !ok && c.pruned(m.Run) && c.posts[m.Post].Message == id {
			continue
		}
		asked := c.asked(m.Run, m.Post)
		if !ok || run.Bot != m.Sender.ID || run.Thread != m.Thread || run.Post != m.Post && !asked || c.posts[m.Post].Message != id {
			c.say("message %s of %s does not belong to its run %s and post %s", id, m.Sender.ID, m.Run, m.Post)
		}
		if asked {
			continue
		}
		if other := wrote[m.Run]; other != "" {
			c.say("run %s has written two messages, %s and %s", m.Run, other, id)
		}
		wrote[m.Run] = id
	}
	for id, n := range count {
		if _, ok := c.threads[id]; !ok {
			c.say("%d messages belong to the thread %s, which does not exist", n, id)
		}
	}
	for _, id := range sorted(c.threads) {
		if th := c.threads[id]; th.Said() != count[id] {
			c.say("thread %s counts %d messages and has %d", id, th.Said(), count[id])
		}
	}
}

func (c *checker) checkItems() {
	for _, id := range sorted(c.items) {
		it := c.items[id]
		if th, ok := c.threads[it.Thread]; !ok || it.Adapter != th.Place.Adapter || it.Kind == core.MessageItem && !slices.Contains(participants(th, it), it.Bot) {
			c.say("item %s for @%s of adapter %s does not fit its thread %s", id, it.Bot, it.Adapter, it.Thread)
		}
		msgs := c.messages[it.Message]
		switch it.Kind {
		case core.MessageItem:
			if msgs == nil || msgs[0].Thread != it.Thread || !slices.Contains(c.itemsAt[it.Message], id) {
				c.say("item %s points at the message %q, which does not exist in its thread, or does not know it", id, it.Message)
			} else if from := msgs[0].Sender; from.Kind == core.HumanActor && !it.External() && !c.own[string(ownKey(from.ID, id))] {
				c.say("item %s is not among those of %s, who wrote its message", id, from.ID)
			}
		case core.ResumeItem:
			if _, ok := c.runs[it.Run]; !ok || it.Message != "" {
				c.say("item %s resumes the run %q, which does not exist", id, it.Run)
			}
		default:
			c.say("item %s is of the kind %q", id, it.Kind)
		}
		if parent, ok := c.items[it.Parent]; it.Parent != "" && !parent.State.Terminal() && (ok || !c.gone[it.Parent] && !it.External()) {
			c.say("item %s retries %s, which has not ended", id, it.Parent)
		}
		queued, inQueue := c.queue[id]
		waits := it.State == core.Queued || it.External() && !it.State.Terminal()
		if inQueue != waits || inQueue && queued != it {
			c.say("item %s is %s, and in the queue: %v, as %s", id, it.State, inQueue, queued.State)
		}
		c.checkItemState(it)
	}
	for _, id := range sorted(c.queue) {
		if _, ok := c.items[id]; !ok {
			c.say("item %s is queued and does not exist", id)
		}
	}
}

func (c *checker) checkItemState(it core.Item) {
	if it.External() {
		c.checkErrand(it)
		return
	}
	run := c.runs[it.Run]
	joined := slices.Contains(run.Items, it.ID)
	ended := it.State.Terminal()
	switch {
	case it.Waits && it.State != core.Queued:
		c.say("item %s is %s and waits for a slot", it.ID, it.State)
	case ended == it.Ended.IsZero():
		c.say("item %s is %s and ended at %v", it.ID, it.State, it.Ended)
	case it.State == core.Queued:
		if it.Kind == core.MessageItem && it.Run != "" || it.Outcome != "" {
			c.say("item %s is queued and has run %q and outcome %q", it.ID, it.Run, it.Outcome)
		}
	case it.State == core.Withdrawn:
		if it.Outcome != "" || it.Run != "" {
			c.say("item %s is withdrawn and has run %q and outcome %q", it.ID, it.Run, it.Outcome)
		}
	case !joined:
		c.say("item %s is %s in the run %q, which does not have it", it.ID, it.State, it.Run)
	case ended != run.State.Terminal():
		c.say("item %s is %s and its run %s is %s", it.ID, it.State, run.ID, run.State)
	case ended && (it.Outcome != run.Post || it.State != run.State):
		c.say("item %s is %s with outcome %q, its run %s is %s with outcome %s", it.ID, it.State, it.Outcome, run.ID, run.State, run.Post)
	}
}

func (c *checker) checkRuns() {
	busy := map[string]core.ID{}
	for _, id := range sorted(c.runs) {
		run := c.runs[id]
		over := run.State.Terminal()
		if run.Post != id.As(core.KindPost) && !c.asked(id, id.As(core.KindPost)) || len(run.Items) == 0 {
			c.say("run %s has the post %q and the items %q", id, run.Post, run.Items)
		}
		for _, it := range run.Items {
			if item, ok := c.items[it]; !ok || item.Run != id || item.Bot != run.Bot || item.Thread != run.Thread {
				c.say("run %s of @%s in %s has the item %s, which is of run %q, @%s, in %q", id, run.Bot, run.Thread, it, item.Run, item.Bot, item.Thread)
			}
		}
		row, open := c.open[id]
		if open == over || open && row != openOf(run) {
			c.say("run %s is %s, and among the open ones: %v %v", id, run.State, open, row)
		}
		if over == run.Ended.IsZero() {
			c.say("run %s is %s and ended at %v", id, run.State, run.Ended)
		}
		if post := c.posts[run.Post]; over && (post.Chunks == 0 || post.Run != id) {
			c.say("run %s is %s and its outcome %s has %d chunks", id, run.State, run.Post, post.Chunks)
		}
		for i, st := range c.steps[id] {
			if st.N != i+1 {
				c.say("run %s: step %d stands in the place of step %d", id, st.N, i+1)
			}
			for _, m := range st.Joined {
				if msgs := c.messages[m]; msgs == nil || msgs[0].Thread != run.Thread || m.Seq() > run.Upto.Seq() {
					c.say("run %s: %s, which joined after step %d, is not what it has read in %s up to %s", id, m, st.N, run.Thread, run.Upto)
				}
			}
		}
		if !over && len(c.steps[id]) != run.Steps {
			c.say("run %s counts %d steps and has %d", id, run.Steps, len(c.steps[id]))
		}
		if where := run.Bot + " " + string(run.Thread); !over {
			if other := busy[where]; other != "" {
				c.say("@%s has two runs in %s, %s and %s", run.Bot, run.Thread, other, id)
			}
			busy[where] = id
		}
	}
	for _, id := range sorted(c.open) {
		if _, ok := c.runs[id]; !ok {
			c.say("run %s is open and does not exist", id)
		}
	}
	for _, id := range sorted(c.steps) {
		if _, ok := c.runs[id]; !ok {
			c.say("run %s has steps and does not exist", id)
		}
	}
}
