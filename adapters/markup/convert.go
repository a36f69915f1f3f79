package markup

import (
	"bytes"
	"cmp"
	"html"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxMarker is the largest number of a list item Markdown can express.
const maxMarker = 999_999_999

// converter turns goldmark's tree, which points into the source, into a
// document.
type converter struct {
	md  string // the source,
	src []byte // and again as goldmark wants it
}

// blocks converts the children of a container.
func (c converter) blocks(parent ast.Node) []block {
	var out []block
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch node := n.(type) {
		case *ast.Paragraph, *ast.TextBlock:
			b := newRichBuilder(extent(n.Lines()))
			c.inlines(b, n, 0, "")
			for ; isWindow(n.NextSibling()); n = n.NextSibling() {
				c.join(b, n.NextSibling())
			}
			if r := b.rich(); r.text != "" {
				out = append(out, paragraph{r})
			}
		case *ast.Heading:
			if r := c.rich(n); r.text != "" {
				out = append(out, heading{node.Level, r})
			}
		case *ast.FencedCodeBlock:
			info := ""
			if node.Info != nil {
				info = string(node.Info.Segment.Value(c.src))
			}
			out = c.fence(out, info, n.Lines())
		case *ast.CodeBlock:
			out = c.fence(out, "", n.Lines())
		case *ast.ThematicBreak:
			out = append(out, rule{})
		case *ast.Blockquote:
			if kids := c.blocks(n); len(kids) > 0 {
				out = append(out, quote{kids})
			}
		case *ast.List:
			out = append(out, c.list(node))
		case *extast.Table:
			if t := c.table(node); t != nil {
				out = append(out, t)
			}
		}
	}
	return out
}

// isWindow reports whether n goes on a paragraph that [windows] has cut.
func isWindow(n ast.Node) bool {
	switch n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		return n.PreviousSibling().Kind() == n.Kind() && !n.HasBlankPreviousLines()
	}
	return false
}

// join appends a window; goldmark has dropped the space it was cut at.
func (c converter) join(b *richBuilder, n ast.Node) {
	if n.Lines().Len() > 0 {
		if at := n.Lines().At(0).Start; at > 0 && c.src[at-1] == ' ' {
			b.add(" ", 0, "")
		}
	}
	c.inlines(b, n, 0, "")
}

func (c converter) fence(out []block, info string, lines *text.Segments) []block {
	var b strings.Builder
	for i := range lines.Len() {
		line := lines.At(i)
		b.Write(bytes.TrimRightFunc(line.Value(c.src), unicode.IsSpace))
		b.WriteByte('\n')
	}
	if code := trimCode(b.String()); code != "" {
		out = append(out, fence{info, code})
	}
	return out
}

// trimCode removes the blank lines around code and the space at its end.
func trimCode(s string) string {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	for {
		line, rest, ok := strings.Cut(s, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return s
		}
		s = rest
	}
}

func (c converter) list(node *ast.List) *list {
	l := &list{ordered: node.IsOrdered(), start: node.Start, tight: node.IsTight}
	for n := node.FirstChild(); n != nil; n = n.NextSibling() {
		l.items = append(l.items, item{task: taskOf(n), blocks: c.blocks(n)})
	}
	l.start = max(0, min(l.start, maxMarker-len(l.items)))
	return l
}

func taskOf(n ast.Node) task {
	if n = n.FirstChild(); n == nil {
		return noTask
	}
	switch box, ok := n.FirstChild().(*extast.TaskCheckBox); {
	case !ok:
		return noTask
	case box.IsChecked:
		return doneTask
	}
	return openTask
}

// table is nil for a table without content.
func (c converter) table(node *extast.Table) *table {
	t := &table{}
	for _, a := range node.Alignments {
		switch a {
		case extast.AlignCenter:
			t.align = append(t.align, alignCenter)
		case extast.AlignRight:
			t.align = append(t.align, alignRight)
		default:
			t.align = append(t.align, alignLeft)
		}
	}
	blank := true
	for n := node.FirstChild(); n != nil; n = n.NextSibling() {
		row := make([]rich, len(t.align))
		i := 0
		for cell := n.FirstChild(); cell != nil && i < len(row); cell = cell.NextSibling() {
			row[i] = c.rich(cell)
			blank = blank && row[i].text == ""
			i++
		}
		t.rows = append(t.rows, row)
	}
	if blank {
		return nil
	}
	return t
}

func (c converter) rich(n ast.Node) rich {
	b := newRichBuilder(extent(n.Lines()))
	c.inlines(b, n, 0, "")
	return b.rich()
}

// text is a segment of the source.
func (c converter) text(seg text.Segment) string {
	if seg.Padding > 0 || seg.ForceNewline {
		return string(seg.Value(c.src))
	}
	return c.md[seg.Start:seg.Stop]
}

// inlines appends the inline children of n, seen in style st within link.
// The recursion is as deep as one window of markup can nest.
func (c converter) inlines(b *richBuilder, n ast.Node, st style, link string) {
	for n := n.FirstChild(); n != nil; n = n.NextSibling() {
		switch node := n.(type) {
		case *ast.Text:
			b.add(unescape(c.text(node.Segment)), st, link)
			if node.SoftLineBreak() || node.HardLineBreak() {
				b.newline(st, link)
			}
		case *ast.String:
			b.newline(st, link)
		case *ast.CodeSpan:
			b.add(c.codeSpan(node), st|code, link)
		case *ast.Emphasis:
			if node.Level == 1 {
				c.inlines(b, n, st|italic, link)
			} else {
				c.inlines(b, n, st|bold, link)
			}
		case *extast.Strikethrough:
			c.inlines(b, n, st|strike, link)
		case *ast.Link:
			c.link(b, n, st, link, node.Destination)
		case *ast.Image:
			c.link(b, n, st, link, node.Destination)
		case *ast.AutoLink:
			label := string(node.Label(c.src))
			target := label
			if node.AutoLinkType == ast.AutoLinkEmail {
				target = "mailto:" + label
			}
			b.add(label, st, cmp.Or(link, target))
		}
	}
}

// link appends a link or an image. One within another (an image in a link)
// adds its text only; one without text shows its target.
func (c converter) link(b *richBuilder, n ast.Node, st style, outer string, dest []byte) {
	target := outer
	if target == "" {
		target = strings.TrimSpace(unescape(string(dest)))
	}
	from := len(b.text)
	c.inlines(b, n, st, target)
	if from = min(from, len(b.text)); len(bytes.TrimSpace(b.text[from:])) == 0 {
		b.truncate(from)
		b.add(target, st, target)
		return
	}
	// The target is shown right behind the text: white space goes after both.
	end := len(bytes.TrimRight(b.text, " \t\n"))
	space := string(b.text[end:])
	b.truncate(end)
	if strings.Contains(space, "\n") {
		b.newline(st, outer)
	} else if space != "" {
		b.add(" ", st, outer)
	}
}

// codeSpan is the text of a code span on one line. In a table the pipes in
// it are escaped.
func (c converter) codeSpan(n *ast.CodeSpan) string {
	var s []byte
	for t := n.FirstChild(); t != nil; t = t.NextSibling() {
		if t, ok := t.(*ast.Text); ok {
			s = append(s, t.Segment.Value(c.src)...)
		}
	}
	out := strings.ReplaceAll(string(s), "\n", " ")
	if n.Parent().Kind() == extast.KindTableCell {
		out = strings.ReplaceAll(out, `\|`, "|")
	}
	return out
}

// unescape resolves backslash escapes and entities.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, '&') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			n := entityLen(s[i:])
			b.WriteString(entity(s[i : i+n]))
			i += n - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// entityLen is the length of what looks like an entity at the start of s, or
// one. No entity is longer than 33 bytes.
func entityLen(s string) int {
	for i := 1; i < len(s) && i < 40; i++ {
		switch c := s[i]; {
		case c == ';':
			return i + 1
		case c != '#' && !util.IsAlphaNumeric(c):
			return 1
		}
	}
	return 1
}

// entity resolves one entity. A control character, a line end among them,
// becomes a space: it must not shape the text around it.
func entity(s string) string {
	out := html.UnescapeString(s)
	if strings.HasSuffix(out, ";") && strings.HasSuffix(s, ";") && out != ";" && out != s {
		return s // UnescapeString knows "&amp" of "&ampx;", Markdown does not
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, out)
}
