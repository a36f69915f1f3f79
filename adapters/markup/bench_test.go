package markup

import (
	"fmt"
	"strings"
	"testing"
)

// prose is ordinary chat Markdown, about n bytes of it.
func prose(n int) string {
	const page = `## What changed

The scheduler now keeps **one queue per place**, so a slow tool no longer holds
up the others. Most of the work went into *ordering*: two messages of one
thread are never handled at the same time, whatever worker picks them up.

- A retry keeps its position in the queue.
- A cancelled turn is taken out with ` + "`queue.Drop`" + `, see [the notes](https://example.com/notes).
- Everything else is unchanged.

Nothing needs to be done on your side. If you still see a delay of more than a
minute, please send me the log of that hour and I will have a look at it.

`
	return strings.Repeat(page, n/len(page)+1)[:n]
}

// renderers are all ways to write a piece.
var renderers = []struct {
	name   string
	render func(string) string
}{
	{"TelegramHTML", TelegramHTML},
	{"SlackMarkdown", SlackMarkdown},
	{"SlackText", SlackText},
	{"DiscordMarkdown", DiscordMarkdown},
	{"Plain", Plain},
}

// targets are the messages that Split cuts for.
var targets = []struct {
	name   string
	target Target
}{
	{"Telegram", Telegram()},
	{"Slack", Slack()},
	{"Discord", Discord()},
}

// BenchmarkRender is for the text of one message. The goal is 20 MB/s.
func BenchmarkRender(b *testing.B) {
	for _, r := range renderers {
		b.Run(r.name, func(b *testing.B) {
			md := prose(4000)
			b.SetBytes(int64(len(md)))
			b.ReportAllocs()
			for b.Loop() {
				r.render(md)
			}
		})
	}
}

// BenchmarkSplit shows by its MB/s, the same for all sizes, that Split is
// linear.
func BenchmarkSplit(b *testing.B) {
	for _, to := range targets {
		for _, size := range []int{10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%dkB", to.name, size/1000), func(b *testing.B) {
				md := prose(size)
				b.SetBytes(int64(len(md)))
				b.ReportAllocs()
				for b.Loop() {
					Split(md, to.target)
				}
			})
		}
	}
}
