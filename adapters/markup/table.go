package markup

import (
	"strings"

	"github.com/rivo/uniseg"
)

// maxColumn is the widest a column is padded to. A wider cell sticks out: one
// long cell must not blow up every row.
const maxColumn = 40

// monospace is the table as aligned columns, two spaces apart, with a dashed
// line below the header.
func (t *table) monospace() string {
	cells := make([][]string, len(t.rows))
	widths := make([]int, len(t.align))
	for i, row := range t.rows {
		cells[i] = make([]string, len(row))
		for j, r := range row {
			cells[i][j] = cellText(r)
			widths[j] = max(widths[j], min(displayWidth(cells[i][j]), maxColumn))
		}
	}
	var b strings.Builder
	for i, row := range cells {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(t.line(row, widths))
		if i == 0 {
			b.WriteByte('\n')
			for j, w := range widths {
				if j > 0 {
					b.WriteString("  ")
				}
				b.WriteString(strings.Repeat("-", max(w, 1)))
			}
		}
	}
	return b.String()
}

func (t *table) line(row []string, widths []int) string {
	var b strings.Builder
	for j, cell := range row {
		if j > 0 {
			b.WriteString("  ")
		}
		left, right := 0, max(0, max(widths[j], 1)-displayWidth(cell))
		switch t.align[j] {
		case alignRight:
			left, right = right, 0
		case alignCenter:
			left, right = right/2, right-right/2
		}
		b.WriteString(strings.Repeat(" ", left))
		b.WriteString(cell)
		b.WriteString(strings.Repeat(" ", right))
	}
	return strings.TrimRight(b.String(), " ")
}

// cellText is a cell on one line: no tags are possible inside <pre>, so links
// show their target.
func cellText(r rich) string {
	return strings.ReplaceAll(string(plain{}.inline(nil, r)), "\n", " ")
}

func displayWidth(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}
