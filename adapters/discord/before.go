package discord

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

// before reads what was said at a place before a message. Where that is not
// permitted there is nothing.
func (a *Adapter) before(ctx context.Context, n core.Need) (core.Before, error) {
	me, err := a.self(ctx)
	if err != nil {
		return core.Before{}, a.outcome(err)
	}
	at := a.home(n.Place, n.MessageID)
	var said []message // newest first
	for until := n.MessageID; isID(at) && isID(until) && len(said) < n.Context; {
		limit := min(n.Context-len(said), pageSize)
		var page []message
		err := a.api.call(ctx, http.MethodGet, fmt.Sprintf("%s?before=%s&limit=%d", messagePath(at, ""), until, limit), nil, &page)
		if refusedWith(err, discordgo.ErrCodeMissingAccess, discordgo.ErrCodeMissingPermissions, discordgo.ErrCodeUnknownChannel) {
			a.log.Warn("what was said before cannot be read", "channel", at, "err", err)
			break
		}
		if err != nil {
			return core.Before{}, a.outcome(err)
		}
		slices.SortFunc(page, func(a, b message) int { return compareIDs(b.ID, a.ID) })
		read := false
		for _, m := range page {
			until = m.ID
			if read = n.Since != "" && compareIDs(m.ID, n.Since) <= 0; read {
				break
			}
			said = append(said, m)
		}
		if read || len(page) < limit {
			break
		}
	}
	var out core.Before
	for _, m := range slices.Backward(said) {
		if first := m.Referenced.v; m.Kind == discordgo.MessageTypeThreadStarterMessage && first != nil {
			m = *first // the message that the thread was opened from
		}
		if m.Author.ID == me.user || !m.spoken() {
			continue
		}
		out.Quotes = append(out.Quotes, a.quote(&m)...)
		out.Files = append(out.Files, m.files()...)
	}
	return out, nil
}
