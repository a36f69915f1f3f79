package markup

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Parts of goldmark take quadratic time, or memory, on hostile input. These
// bounds keep the whole near-linear; honest text stays far below them, and
// what lies beyond one is shown as text.
const (
	maxDepth = 8       // block containers inside one another
	maxBlank = 8       // blank lines in a row
	maxRefs  = 512     // lines of a paragraph that may define references
	padCells = 4 << 10 // table cells beyond one per source byte
	window   = 8 << 10 // source bytes parsed for inline markup at a time
)

// grammar is CommonMark with GFM tables, strikethrough and task lists, less
// raw HTML: tags are text to us, but for <br>.
var grammar = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(shallow{parser.NewListParser()}, 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(shallow{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(bounded{parser.NewCodeSpanParser()}, 100),
		util.Prioritized(boundedLink{bounded{parser.NewLinkParser()}}, 200),
		util.Prioritized(bounded{parser.NewAutoLinkParser()}, 300),
		util.Prioritized(lineBreak{}, 400),
		util.Prioritized(bounded{parser.NewEmphasisParser()}, 500),
		util.Prioritized(bounded{extension.NewStrikethroughParser()}, 500),
	),
	parser.WithParagraphTransformers(
		util.Prioritized(references{parser.LinkReferenceParagraphTransformer}, 100),
		util.Prioritized(tables{extension.NewTableParagraphTransformer()}, 200),
		util.Prioritized(windows{}, 300),
	),
)

// parse reads Markdown into a document. Blocks that would show nothing are
// left out.
func parse(md string) []block {
	md = squeeze(clean(md))
	src := []byte(md)
	root := grammar.Parse(text.NewReader(src))
	return converter{md, src}.blocks(root)
}

// squeeze removes blank lines beyond maxBlank in a row: goldmark keeps a record
// for each of them and for each container they stand in.
func squeeze(md string) string {
	if strings.Count(md, "\n") <= maxBlank {
		return md
	}
	var b strings.Builder
	blank, kept := 0, 0 // the lines in a row; md[:kept] is in b
	for at := 0; at < len(md); {
		end := at + strings.IndexByte(md[at:], '\n') + 1
		if end == at {
			break
		}
		if strings.TrimLeft(md[at:end], " \t\n") != "" {
			blank = 0
		} else if blank++; blank > maxBlank {
			b.WriteString(md[kept:at])
			kept = end
		}
		at = end
	}
	if kept == 0 {
		return md
	}
	b.WriteString(md[kept:])
	return b.String()
}

// shallow opens no container deeper than maxDepth.
type shallow struct{ parser.BlockParser }

func (s shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if n.Kind() != ast.KindListItem {
			depth++
		}
	}
	if depth > maxDepth {
		return nil, parser.NoChildren
	}
	return s.BlockParser.Open(parent, reader, pc)
}

// bounded parses no inline markup in a leaf longer than a window. Paragraphs
// are cut to size by windows; a heading or a table cell that long is text.
type bounded struct{ parser.InlineParser }

func (b bounded) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if extent(parent.Lines()) > window {
		return nil
	}
	return b.InlineParser.Parse(parent, block, pc)
}

// boundedLink passes on what only the link parser has: the clean-up of
// brackets left open at the end of a block.
type boundedLink struct{ bounded }

func (b boundedLink) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	b.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}

// lineBreak reads <br>, the one tag models use where Markdown has no other
// way: in table cells.
type lineBreak struct{}

var brTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^<[bB][rR] ?/?>`) })

func (lineBreak) Trigger() []byte { return []byte{'<'} }

func (lineBreak) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	tag := brTag().Find(line)
	if tag == nil {
		return nil
	}
	block.Advance(len(tag))
	return ast.NewString([]byte("\n"))
}

// references reads link reference definitions in paragraphs of a sane size:
// goldmark moves all remaining lines for each definition it takes out.
type references struct{ parser.ParagraphTransformer }

func (r references) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if node.Lines().Len() <= maxRefs {
		r.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// tables reads tables, unless filling up short rows would make far more cells
// than there is text.
type tables struct{ parser.ParagraphTransformer }

func (t tables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	for i := 1; i < lines.Len(); i++ {
		line := lines.At(i)
		row := line.Value(reader.Source())
		if len(bytes.Trim(row, "-:| \t\n")) > 0 {
			continue
		}
		cells := (bytes.Count(row, []byte{'|'}) + 1) * (lines.Len() - i)
		if cells <= extent(lines)+padCells {
			t.ParagraphTransformer.Transform(node, reader, pc)
		}
		return
	}
}

// windows cuts a very long paragraph into several, none longer than a window.
// The later ones carry no blank line before them, by which the converter
// knows to join them again.
type windows struct{}

func (windows) Transform(node *ast.Paragraph, reader text.Reader, _ parser.Context) {
	if extent(node.Lines()) <= window {
		return
	}
	src, blank := reader.Source(), node.HasBlankPreviousLines()
	part := text.NewSegments()
	flush := func() {
		p := ast.NewParagraph()
		p.SetLines(part)
		p.SetPos(part.At(0).Start)
		p.SetBlankPreviousLines(blank)
		node.Parent().InsertBefore(node.Parent(), node, p)
		part, blank = text.NewSegments(), false
	}
	for _, line := range node.Lines().Sliced(0, node.Lines().Len()) {
		if part.Len() > 0 && line.Stop-part.At(0).Start > window {
			flush()
		}
		for line.Stop-line.Start > window {
			at := line.Start + cutLine(src[line.Start:line.Start+window])
			part.Append(line.WithStop(at))
			line = text.NewSegment(at, line.Stop)
			flush()
		}
		part.Append(line)
	}
	// The node itself stays, as the last part: goldmark still holds it open.
	node.SetLines(part)
	node.SetBlankPreviousLines(false)
}

// cutLine is where to end a window that begins a longer line: after its last
// space or else before its last rune, which may be incomplete.
func cutLine(b []byte) int {
	if i := bytes.LastIndexByte(b, ' '); i > 0 {
		return i + 1
	}
	i := len(b) - 1
	for i > 1 && !utf8.RuneStart(b[i]) {
		i--
	}
	return i
}

// extent is the number of source bytes from the first of the lines to the
// last.
func extent(lines *text.Segments) int {
	if lines.Len() == 0 {
		return 0
	}
	return lines.At(lines.Len()-1).Stop - lines.At(0).Start
}
