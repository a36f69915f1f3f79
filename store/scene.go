package store

import (
	"slices"

	"bellhop/core"
)

// scene reads the thread from the bot's cut on, as far as the bot sees it, and a
// resumed run's steps. It is more than window messages, so that whoever folds
// them knows what goes, but bounded.
func (t *tx) scene(th core.Thread, run core.Run, window int) (core.Scene, error) {
	sc := core.Scene{Thread: th, Upto: run.Upto}
	cut := th.Cuts[run.Bot]
	if run.Cut != "" {
		cut = run.Cut
	}
	var joined []core.ID
	if run.Steps > 0 {
		if err := each(t, idKey(famStep, run.ID), 0, func(_ []byte, st core.Step) error {
			sc.Steps, joined = append(sc.Steps, st), append(joined, st.Joined...)
			return nil
		}); err != nil {
			return sc, err
		}
	}
	var err error
	if sc.Messages, err = t.history(th, eyesOf(run, joined...), cut, run.Upto, 2*window+1); err != nil {
		return sc, err
	}
	if run.Steps > 0 { // what it has asked and was answered stands in its steps
		sc.Messages = slices.DeleteFunc(sc.Messages, func(m core.Message) bool { return m.Run == run.ID || m.Answers == run.ID })
	}
	if n := len(sc.Messages); n > 0 {
		sc.Upto, sc.Total = sc.Messages[n-1].ID, sc.Messages[n-1].N
	}
	if run.Scoped || len(sc.Messages) == 0 {
		newest, err := t.history(th, eyes{}, "", run.Upto, 1)
		if err != nil {
			return sc, err
		}
		for _, m := range newest {
			sc.Upto, sc.Total = m.ID, m.N
		}
	}
	if run.Upto != "" {
		later, err := t.replies(run, th.ID)
		if err != nil {
			return sc, err
		}
		sc.Messages = append(sc.Messages, later...)
	}
	return sc, nil
}

// replies are those of the run's bot, and the answers to its questions, after
// what the run reads that stand before the last of it: it had them ready when
// other messages had come already. What the run itself has asked is not in it.
func (t *tx) replies(run core.Run, thread core.ID) ([]core.Message, error) {
	msgs, err := t.since(eyesOf(run), thread, run.Upto, "")
	return slices.DeleteFunc(msgs, func(m core.Message) bool {
		theirs := m.Sender != (core.Actor{Kind: core.BotActor, ID: run.Bot}) && m.For != run.Bot
		own := run.Steps > 0 && (m.Run == run.ID || m.Answers == run.ID)
		return theirs || own || m.After == "" || m.After.Seq() > run.Upto.Seq()
	}), err
}

// newest reads the latest versions of the n newest messages between two keys,
// oldest first.
func (t *tx) newest(from, to []byte, n int) ([]core.Message, error) {
	var out []core.Message
	for {
		kvs, err := t.ScanBack(from, to, n+1)
		if err != nil {
			return nil, err
		}
		slices.Reverse(kvs)
		msgs, err := t.latest(kvs)
		if err != nil {
			return nil, err
		}
		for _, m := range slices.Backward(msgs) {
			if len(out) == n {
				break
			}
			if len(out) == 0 || out[len(out)-1].ID != m.ID { // else an older version
				out = append(out, m)
			}
		}
		if len(kvs) <= n || len(out) == n {
			slices.Reverse(out)
			return out, nil
		}
		to = kvs[0].Key
	}
}

// latest decodes messages in key order and keeps the last version of each.
func (t *tx) latest(kvs []KV) ([]core.Message, error) {
	var out []core.Message
	for _, kv := range kvs {
		var m core.Message
		if err := decode(kv.Value, &m); err != nil {
			t.damaged(kv.Key, kv.Value, err)
			continue
		}
		if n := len(out); n > 0 && out[n-1].ID == m.ID {
			out[n-1] = m
			continue
		}
		out = append(out, m)
	}
	return out, nil
}
