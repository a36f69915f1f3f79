package coretest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bellhop/core"
)

// before is core.Features.Before.
func (a *adapter) before(ctx context.Context, n core.Need) (out core.Before, err error) {
	_, err = a.call(ctx, "read", func() (core.Receipt, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		said := slices.DeleteFunc(a.said(n.Place, n.Place.Topic != n.MessageID), func(m *message) bool {
			return m.person == "" && n.Since != "" || number(m.id) <= number(n.Since) || number(m.id) >= number(n.MessageID)
		})
		older := max(0, len(said)-n.Context)
		for _, m := range said[older:] {
			out.Quotes = append(out.Quotes, m.quote())
		}
		out.More = older > 0 && n.Place.Topic != "" && n.Place.Topic != n.MessageID
		return core.Receipt{}, ctx.Err()
	})
	return out, err
}

// said are the messages of a place, oldest first: within, of the thread with
// what it began with; else of its channel. The caller holds mu.
func (a *adapter) said(at core.Place, within bool) []*message {
	home := core.Place{Adapter: at.Adapter, Channel: at.Channel}
	if !within || at.Topic == "" {
		return slices.Clone(a.rooms[home])
	}
	out := slices.Clone(a.rooms[at])
	if root := a.find(home, at.Topic); root != nil {
		out = slices.Insert(out, 0, root)
	}
	return out
}

// quote is the message as it is read back.
func (m *message) quote() core.Quote {
	q := core.Quote{Author: m.author, Own: m.person == "", Text: strings.ReplaceAll(m.text, "@"+self, title(self)), ID: m.id, Time: m.at}
	if m.file != nil {
		q.Files = []core.File{{Name: m.file.Name, Ref: m.file.Name}}
	}
	return q
}

// number is a message's id as one; the empty one comes before all others.
func number(id string) int {
	n, _ := strconv.Atoi(id)
	return n
}

// read is core.Features.Read.
func (a *adapter) read(ctx context.Context, at core.Place, before string, limit int) (out core.Page, err error) {
	if before != "" && number(before) == 0 {
		return out, fmt.Errorf("%w: there is no page before %q", core.ErrRefused, before)
	}
	_, err = a.call(ctx, "read", func() (core.Receipt, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		said := slices.DeleteFunc(a.said(at, true), func(m *message) bool { return before != "" && number(m.id) >= number(before) })
		older := max(0, len(said)-limit)
		for _, m := range said[older:] {
			out.Quotes = append(out.Quotes, m.quote())
		}
		if older > 0 {
			out.Before = said[older].id
		}
		return core.Receipt{}, ctx.Err()
	})
	return out, err
}
