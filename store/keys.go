package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"bellhop/core"
)

// The key families. Order within a family is the order of what follows the
// prefix; numbers are big-endian so that byte order is number order.
//
//	j/<adapter>\0<dedupe>              journal: what became of an event
//	jt/<day>/<adapter>\0<dedupe>       the journal by day, for pruning
//	c/<day>/<place>                    cursor: the newest message heard at the place that day
//	a/<adapter>\0<new channel>         alias: the channel's first id
//	ac/<adapter>\0<first channel>      the channel's id to send to
//	p/<place>                          current thread of the place
//	ta/<place>\0<ms><thread>           archived threads of the place in which something was said, by when they ended
//	t/<thread>                         threads
//	tf/<thread>                        what forks share with other threads
//	n/<thread>                         threads that are to be given a title
//	m/<thread><message><version>       messages
//	mf/<thread><bot>\0<message>        messages for a bot: its own, those that mention it, and those that woke it
//	mp/<adapter>\0<series>\0<id>       platform id → message; a series is a channel, whatever the topic, or several that number together
//	mi/<message><item>                 items of a message; of one that was pruned: that a bot had it
//	im/<person>\0<item>                items of a person's messages
//	q/<bot>\0<item>                    queued items only
//	i/<item>                           items
//	r/<run>                            runs
//	ro/<run>                           open runs only
//	s/<run><n>                         steps
//	h/<thread><bot>                    held hand-offs only
//	o/<place>\0<seq><chunk>            undelivered chunks only
//	k/<ask>                            what runs have asked people
//	ko/<ask>                           open asks only
//	op/<post>                          posts, with their receipts and what people think of them
//	g/<person>                         grants: who was let in in chat
//	gr/<person>                        rebuffs: strangers whom an owner has refused
//	gp/<seq>                           passes: codes that let somebody in, while they work
//	hu/<person>                        humans: what is known of a person, or which of their identities has it
//	lc/<hash>                          codes that link two identities, while they work
//	l/<ms><n>                          activity log
//	lx/<what><ms><n>                   activities about a place (a hash), or an ID's number
//	y/<agent>\0<permit>                permits: calls of an agent that a person has allowed for good
//	us/<day>/<who>                     what models were used that day: by all, by a bot, for a person
//	x/<key>                            quarantined rows
//	meta/…                             schema version
//
// Start-up scans q, ro, ko and o alone, so it costs nothing per stored message.
const (
	famJournal    = "j/"
	famJournalDay = "jt/"
	famCursor     = "c/"
	famAlias      = "a/"
	famCurrent    = "ac/"
	famPlace      = "p/"
	famArchived   = "ta/"
	famThread     = "t/"
	famLineage    = "tf/"
	famTitle      = "n/"
	famMessage    = "m/"
	famFor        = "mf/"
	famPlatform   = "mp/"
	famItemsOf    = "mi/"
	famOwn        = "im/"
	famQueue      = "q/"
	famItem       = "i/"
	famRun        = "r/"
	famOpenRun    = "ro/"
	famStep       = "s/"
	famHeld       = "h/"
	famOutbox     = "o/"
	famAsk        = "k/"
	famOpenAsk    = "ko/"
	famPost       = "op/"
	famGrant      = "g/"
	famPass       = "gp/"
	famRebuff     = "gr/"
	famHuman      = "hu/"
	famLinkCode   = "lc/"
	famActivity   = "l/"
	famAbout      = "lx/"
	famPermit     = "y/"
	famSpent      = "us/"
	famBad        = "x/"
	keySchema     = "meta/schema"
)

// escaped makes text safe before a \0 separator, keeping its order.
var escaped = strings.NewReplacer("\x00", "\x01\x01", "\x01", "\x01\x02")

// maxText bounds a text within a key, so that no event can have a key that
// engines refuse: it would be offered again for ever.
const maxText = 1 << 10

// text is s within a key: escaped, and with a hash in place of what is too
// long. It is the same before and after s was stored as JSON.
func text(s string) string {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	s = escaped.Replace(s)
	if len(s) > maxText {
		s = fmt.Sprintf("%s\x01\x03%x", s[:maxText], sha256.Sum256([]byte(s)))
	}
	return s
}

func placeText(p core.Place) string {
	return text(p.Adapter) + "\x00" + text(p.Channel) + "\x00" + text(p.Topic)
}

func u64(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }
func u16(b []byte, n int) []byte    { return binary.BigEndian.AppendUint16(b, uint16(n)) }

func idKey(family string, id core.ID) []byte { return u64([]byte(family), id.Seq()) }

func journalKey(adapter, dedupe string) []byte {
	return []byte(famJournal + text(adapter) + "\x00" + text(dedupe))
}

func journalDayKey(day, adapter, dedupe string) []byte {
	return []byte(famJournalDay + day + "/" + text(adapter) + "\x00" + text(dedupe))
}

func cursorKey(day string, p core.Place) []byte {
	return []byte(famCursor + day + "/" + placeText(p))
}

func aliasKey(adapter, channel string) []byte {
	return []byte(famAlias + text(adapter) + "\x00" + text(channel))
}

func currentKey(adapter, channel string) []byte {
	return []byte(famCurrent + text(adapter) + "\x00" + text(channel))
}

func placeKey(p core.Place) []byte { return []byte(famPlace + placeText(p)) }

// archivedAt is what the keys of a place's archived threads begin with.
func archivedAt(p core.Place) []byte { return []byte(famArchived + placeText(p) + "\x00") }

func archivedKey(r placeRow) []byte {
	return u64(u64(archivedAt(r.Place), uint64(r.Archived.UnixMilli())), r.Thread.Seq())
}

// platformKey is where a platform id is known: in the series that numbers the
// messages of the place.
func (t *tx) platformKey(p core.Place, id string) []byte {
	p.Topic = ""
	if t.series != nil {
		p.Channel = t.series(p)
	}
	return []byte(famPlatform + placeText(p) + text(id))
}

func messageKey(thread, id core.ID, version int) []byte {
	return u16(u64(u64([]byte(famMessage), thread.Seq()), id.Seq()), version)
}

// forAt is what the keys of the messages for a bot begin with.
func forAt(thread core.ID, bot string) []byte {
	return append(append(idKey(famFor, thread), bot...), 0)
}

func forKey(thread core.ID, bot string, message core.ID) []byte {
	return u64(forAt(thread, bot), message.Seq())
}

func itemsOfKey(message, item core.ID) []byte {
	return u64(idKey(famItemsOf, message), item.Seq())
}

// ownAt is what the keys of the items of a person's messages begin with.
func ownAt(who string) []byte { return []byte(famOwn + text(who) + "\x00") }

func ownKey(who string, item core.ID) []byte { return u64(ownAt(who), item.Seq()) }

func queueKey(bot string, item core.ID) []byte {
	return u64([]byte(famQueue+bot+"\x00"), item.Seq())
}

func grantKey(p core.PersonID) []byte { return []byte(famGrant + text(string(p))) }

func rebuffKey(p core.PersonID) []byte { return []byte(famRebuff + text(string(p))) }

func humanKey(p core.PersonID) []byte { return []byte(famHuman + text(string(p))) }

func linkCodeKey(hash []byte) []byte { return append([]byte(famLinkCode), hash...) }

// permitsOf is what the keys of an agent's permits begin with.
func permitsOf(agent string) []byte { return []byte(famPermit + text(agent) + "\x00") }

func permitKey(agent string, permit core.ID) []byte { return u64(permitsOf(agent), permit.Seq()) }

func stepKey(run core.ID, n int) []byte { return u16(idKey(famStep, run), n) }

func heldKey(thread core.ID, bot string) []byte {
	return append(idKey(famHeld, thread), bot...)
}

func rowKey(p core.Place, seq uint64, chunk int) []byte {
	return u16(u64([]byte(famOutbox+placeText(p)+"\x00"), seq), chunk)
}

// after is the least key above every key with the prefix.
func after(prefix []byte) []byte {
	b := append([]byte(nil), prefix...)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0xff {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}

// seqOf is the number that ends a key.
func seqOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }
