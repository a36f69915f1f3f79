package adaptertest

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// escapes are the only entities of mrkdwn.
var (
	escapes   = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">")
	unescapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
)

// token is what stands between angle brackets in mrkdwn: a mention, a channel,
// a link.
var token = regexp.MustCompile(`<(@[UW][A-Z0-9]+|#C[A-Z0-9]+|!here|!channel|!everyone|!subteam\^[A-Z0-9]+|(?:https?|mailto):[^|<>]+)(\|[^<>]*)?>`)

// entity is one of the escapes.
var entity = regexp.MustCompile(`&(?:amp|lt|gt);`)

// normalise stores a text as the service does: what is no token and no escape
// is escaped.
func normalise(text string) string {
	text = escapeOutside(token, text, func(s string) string {
		return escapeOutside(entity, s, unescapes.Replace)
	})
	return strings.TrimSpace(text)
}

// escapeOutside changes what lies between the matches.
func escapeOutside(re *regexp.Regexp, text string, change func(string) string) string {
	var b strings.Builder
	last := 0
	for _, at := range re.FindAllStringIndex(text, -1) {
		b.WriteString(change(text[last:at[0]]))
		b.WriteString(text[at[0]:at[1]])
		last = at[1]
	}
	b.WriteString(change(text[last:]))
	return b.String()
}

// sight collects what a person sees of a message, and whom it notifies.
type sight struct {
	s     *Slack
	pings []string
}

// render is what a person sees of a message, and whom it notifies. Called with
// mu held.
func (s *Slack) render(m *slackMessage) (text string, pings []string) {
	v := &sight{s: s}
	var parts []string
	if m.stream != nil {
		parts = append(parts, v.markdown(m.text))
		if m.stream.doing != "" {
			parts = append(parts, m.stream.doing)
		}
	}
	switch {
	case len(m.blocks) > 0:
		for _, b := range m.blocks {
			parts = append(parts, v.block(b))
		}
	case m.plain:
		parts = append(parts, v.tokens(m.text))
	case m.stream == nil:
		parts = append(parts, v.mrkdwn(m.text))
	}
	for _, a := range m.attachments {
		if a, ok := a.(map[string]any); ok && a["text"] != nil {
			parts = append(parts, v.mrkdwn(fmt.Sprint(a["text"])))
		}
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return strings.Join(parts, "\n"), v.pings
}

func (v *sight) block(b slackBlock) string {
	switch b.Type {
	case "markdown":
		return v.markdown(str(b.Text))
	case "section", "header":
		parts := []string{v.object(object(b.Text))}
		for _, f := range b.Fields {
			parts = append(parts, v.object(f))
		}
		return strings.TrimSpace(strings.Join(parts, "\n"))
	case "context":
		var parts []string
		for _, el := range b.Elements {
			parts = append(parts, v.object(slackText{el.Type, str(el.Text)}))
		}
		return strings.Join(parts, " ")
	case "rich_text":
		return v.rich(b.Elements)
	case "table":
		var rows []string
		for _, row := range b.Rows {
			var cells []string
			for _, c := range row {
				cells = append(cells, c.Text+v.rich(c.Elements))
			}
			rows = append(rows, strings.Join(cells, " | "))
		}
		return strings.Join(rows, "\n")
	}
	return ""
}

func (v *sight) object(t slackText) string {
	if t.Type == "mrkdwn" {
		return v.mrkdwn(t.Text)
	}
	return escapes.Replace(t.Text)
}

// rich is rich text: sections and lists are lines, all else runs on.
func (v *sight) rich(elements []slackElement) string {
	var b strings.Builder
	for _, el := range elements {
		switch el.Type {
		case "rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote":
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(strings.TrimSuffix(v.rich(el.Elements), "\n"))
		case "user":
			b.WriteString(v.mention("@" + el.UserID))
		case "broadcast":
			b.WriteString(v.mention("!" + el.Range))
		case "emoji":
			b.WriteString(":" + el.Name + ":")
		case "link":
			if text := str(el.Text); text != "" {
				b.WriteString(text)
			} else {
				b.WriteString(el.URL)
			}
		default:
			b.WriteString(str(el.Text))
		}
	}
	return b.String()
}

// mention is how a person sees a mention, which notifies.
func (v *sight) mention(what string) string {
	what, _, _ = strings.Cut(what, "|")
	id := strings.TrimLeft(what, "@!")
	switch what[0] {
	case '#':
		if r := v.s.rooms[what[1:]]; r != nil {
			return "#" + r.name
		}
		return "#unknown"
	case '@':
		u := v.s.users[id]
		if u == nil {
			return "@unknown"
		}
		v.pings = append(v.pings, id)
		return "@" + u.Name
	}
	v.pings = append(v.pings, id)
	return "@" + id
}

// tokens shows the tokens of mrkdwn and takes the escapes away.
func (v *sight) tokens(text string) string {
	return escapes.Replace(token.ReplaceAllStringFunc(text, func(t string) string {
		target, label, labelled := strings.Cut(t[1:len(t)-1], "|")
		switch {
		case strings.ContainsRune("@!#", rune(target[0])):
			return v.mention(target)
		case labelled:
			return label
		}
		return strings.TrimPrefix(target, "mailto:")
	}))
}

// The parts of mrkdwn that are code, and the marks around what is not.
var (
	slackCode  = regexp.MustCompile("(?s)```.+?```|`[^`\n]+`")
	slackMarks = []*regexp.Regexp{
		regexp.MustCompile(`(^|[\s\pP])\*([^\s*](?:[^*\n]*[^\s*])?)\*($|[\s\pP])`),
		regexp.MustCompile(`(^|[\s\pP])_([^\s_](?:[^_\n]*[^\s_])?)_($|[\s\pP])`),
		regexp.MustCompile(`(^|[\s\pP])~([^\s~](?:[^~\n]*[^\s~])?)~($|[\s\pP])`),
	}
	slackQuote = regexp.MustCompile(`(?m)^&gt; ?`)
)

// mrkdwn is Slack's own markup.
func (v *sight) mrkdwn(text string) string {
	var b strings.Builder
	last := 0
	words := func(s string) {
		for _, re := range slackMarks {
			s = re.ReplaceAllString(s, "$1$2$3")
		}
		b.WriteString(v.tokens(slackQuote.ReplaceAllString(s, "")))
	}
	for _, at := range slackCode.FindAllStringIndex(text, -1) {
		words(text[last:at[0]])
		b.WriteString(escapes.Replace(strings.Trim(text[at[0]:at[1]], "`")))
		last = at[1]
	}
	words(text[last:])
	return b.String()
}

// Placeholders for tokens while Markdown is parsed.
const (
	tokenBegin = "\uf8f0"
	tokenEnd   = "\uf8f1"
)

var (
	placeholder  = regexp.MustCompile(tokenBegin + `([^` + tokenEnd + `]*)` + tokenEnd)
	slackMention = regexp.MustCompile(`<([@#][A-Z0-9]+|!here|!channel|!everyone|!subteam\^[A-Z0-9]+)(?:\|[^<>]*)?>`)
	htmlCode     = regexp.MustCompile(`(?s)<code[^>]*>.*?</code>`)
	htmlImage    = regexp.MustCompile(`<img [^>]*alt="([^"]*)"[^>]*>`)
	htmlTag      = regexp.MustCompile(`<[^>]*>`)
	htmlLines    = regexp.MustCompile(`\n{3,}`)
)

// markdown is what the service makes of CommonMark with tables. It knows no
// HTML: tags are text.
func (v *sight) markdown(source string) string {
	page, ok := v.s.pages[source]
	if !ok {
		page = slackPage(source)
		v.s.pages[source] = page
	}
	return placeholder.ReplaceAllStringFunc(page, func(p string) string {
		return v.mention(strings.Trim(p, tokenBegin+tokenEnd))
	})
}

// slackPage is the text of Markdown, with its mentions between placeholders.
func slackPage(source string) string {
	source = slackMention.ReplaceAllString(source, tokenBegin+"$1"+tokenEnd)
	var b bytes.Buffer
	if err := slackMarkdown.Convert([]byte(source), &b); err != nil {
		panic(err) // a buffer takes everything
	}
	page := htmlCode.ReplaceAllStringFunc(b.String(), func(code string) string {
		return placeholder.ReplaceAllString(code, "&lt;$1&gt;") // no mention in code
	})
	page = html.UnescapeString(htmlTag.ReplaceAllString(htmlImage.ReplaceAllString(page, "$1"), ""))
	return strings.Trim(htmlLines.ReplaceAllString(page, "\n\n"), "\n")
}

// slackMarkdown renders Markdown to HTML in which every tag of the source is
// escaped.
var slackMarkdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(tagsAsText{}, 100))),
)

// tagsAsText renders the HTML in Markdown as the text it is.
type tagsAsText struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (tagsAsText) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	text := func(w util.BufWriter, b []byte) (ast.WalkStatus, error) {
		_, err := w.WriteString(html.EscapeString(string(b)))
		return ast.WalkSkipChildren, err
	}
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		return text(w, n.(*ast.RawHTML).Segments.Value(source))
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		b := n.(*ast.HTMLBlock)
		lines := b.Lines().Value(source)
		if b.HasClosure() {
			lines = append(lines, b.ClosureLine.Value(source)...)
		}
		return text(w, lines)
	})
}

// translated are the blocks as they are read back: Markdown has become rich
// text by then.
func (s *Slack) translated(m *slackMessage) (list []any) {
	for _, b := range m.blocks {
		if b.Type != "markdown" {
			list = append(list, b.raw)
			continue
		}
		text := map[string]any{"type": "text", "text": (&sight{s: s}).markdown(str(b.Text))}
		list = append(list, map[string]any{"type": "rich_text", "block_id": "b" + m.ts[len(m.ts)-4:],
			"elements": []any{map[string]any{"type": "rich_text_section", "elements": []any{text}}}})
	}
	return list
}
