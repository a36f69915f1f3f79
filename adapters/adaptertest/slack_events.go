package adaptertest

import (
	"encoding/json"
	"slices"
	"time"
)

// slackEvent is what the app is told, in an envelope.
type slackEvent struct {
	kind     string // of the envelope
	payload  json.RawMessage
	once     bool      // it is not sent again: somebody waits for it
	envelope string    // id of the last one that it was in
	attempt  int       // 0: the first
	due      time.Time // when the attempt has failed without an acknowledgement
	socket   *slackSocket
	acked    bool
	written  time.Time // when the last envelope was
}

// retryAfter is how long each attempt is waited for. After the last the event
// is lost.
var retryAfter = []time.Duration{3 * time.Second, time.Minute, 5 * time.Minute, 3 * time.Second}

// push queues an event. Called with mu held.
func (s *Slack) push(e *slackEvent) {
	e.envelope, e.due = s.id("envelope-"), time.Now().Add(retryAfter[0])
	s.events = append(s.events, e)
	s.notify()
}

// dispatch gives the sockets what they are to send now, and says when there is
// more to do; zero: not by itself. Called with mu held.
func (s *Slack) dispatch() (wake time.Time) {
	now := time.Now()
	s.events = slices.DeleteFunc(s.events, func(e *slackEvent) bool { return !e.wait(s, now) })
	ready := slices.DeleteFunc(slices.Clone(s.sockets), func(k *slackSocket) bool { return k.leaving })
	if len(ready) == 0 {
		ready = s.sockets
	}
	for _, e := range s.events {
		if e.socket == nil && len(ready) > 0 {
			s.turn++
			e.socket = ready[s.turn%len(ready)]
			e.socket.frames = append(e.socket.frames, slackFrame{e.frame(), e})
			s.sent[e.envelope] = e
			s.notify()
		}
		wake = earlier(wake, e.due)
	}
	return wake
}

// wait goes on to the attempt of the time; false: the event is lost. Called
// with mu held.
func (e *slackEvent) wait(s *Slack, now time.Time) bool {
	for !now.Before(e.due) {
		if e.once || e.attempt == len(retryAfter)-1 {
			return false
		}
		e.attempt++
		e.due = e.due.Add(retryAfter[e.attempt])
		e.socket, e.envelope = nil, s.id("envelope-")
	}
	return true
}

// frame is the envelope as it is sent.
func (e *slackEvent) frame() []byte {
	j := map[string]any{"type": e.kind, "envelope_id": e.envelope, "payload": e.payload, "accepts_response_payload": e.once}
	if e.kind == "events_api" {
		reason := ""
		if e.attempt > 0 {
			reason = "timeout"
		}
		j["retry_attempt"], j["retry_reason"] = e.attempt, reason
	}
	return encode(j)
}

// emit tells the app of an event in a conversation that it is in. Called with
// mu held.
func (s *Slack) emit(r *slackRoom, from *SlackUser, event map[string]any) {
	if !r.members[s.me.ID] && r.kind != "im" {
		return
	}
	if event["event_ts"] == nil {
		event["event_ts"] = s.stamp()
	}
	team := slackTeam
	if from.Team != slackTeam {
		team = from.Team
	}
	s.push(&slackEvent{kind: "events_api", payload: s.callback(team, r.shared(s), encode(event))})
}

// callback is the outer event.
func (s *Slack) callback(team string, shared bool, event json.RawMessage) json.RawMessage {
	return encode(map[string]any{"token": "verification", "team_id": team, "context_team_id": slackTeam, "api_app_id": slackApp,
		"type": "event_callback", "event": event, "event_id": s.id("Ev"), "event_time": time.Now().Unix(),
		"authorizations":        []any{map[string]any{"enterprise_id": nil, "team_id": slackTeam, "user_id": s.me.ID, "is_bot": true, "is_enterprise_install": false}},
		"is_ext_shared_channel": shared, "event_context": "4-ctx"})
}

// Raw tells the app of an event of any shape, such as a later version of the
// platform would have: the JSON of the inner event.
func (s *Slack) Raw(event string) {
	if !json.Valid([]byte(event)) {
		panic("adaptertest: an event is JSON: " + event)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.push(&slackEvent{kind: "events_api", payload: s.callback(slackTeam, false, json.RawMessage(event))})
}

// RawEnvelope sends an envelope of any type, with a payload of any shape. It is
// not sent again by itself.
func (s *Slack) RawEnvelope(kind, payload string) {
	if !json.Valid([]byte(payload)) {
		panic("adaptertest: a payload is JSON: " + payload)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.push(&slackEvent{kind: kind, payload: json.RawMessage(payload), once: true})
}

// Redeliver sends everything again that was acknowledged.
func (s *Slack) Redeliver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := s.done
	s.done = nil
	for _, e := range again {
		e.acked, e.socket, e.due = false, nil, time.Now().Add(retryAfter[0])
		if !e.once {
			e.attempt, e.envelope = 1, s.id("envelope-")
			e.due = time.Now().Add(retryAfter[1])
		}
	}
	s.events = append(again, s.events...)
	s.notify()
}

// Unacked is how many events were not acknowledged and are not lost.
func (s *Slack) Unacked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.events = slices.DeleteFunc(s.events, func(e *slackEvent) bool { return !e.wait(s, now) })
	return len(s.events)
}
