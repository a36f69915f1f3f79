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

func BenchmarkTelegramHTML(b *testing.B) {
	md := prose(4000)
	b.SetBytes(int64(len(md)))
	b.ReportAllocs()
	for b.Loop() {
		TelegramHTML(md)
	}
}

// BenchmarkSplit shows by its MB/s, the same for all sizes, that Split is
// linear.
func BenchmarkSplit(b *testing.B) {
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("%dkB", size/1000), func(b *testing.B) {
			md := prose(size)
			b.SetBytes(int64(len(md)))
			b.ReportAllocs()
			for b.Loop() {
				Split(md, Telegram())
			}
		})
	}
}
