package adaptertest

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	// discordCode is a block of code, or code in a line.
	discordCode = regexp.MustCompile("(?s)\\\\.|```(?:[A-Za-z0-9_+\\-.#]+\n|\n)?(.*?)```|``(.+?)``|`([^`]+)`")
	// discordMarks are what is not shown of a text outside of code: a mask of
	// its link stands for it.
	discordMarks = regexp.MustCompile(`(?m)\[((?:\\.|[^\]\\])+)\]\(<?[a-z]+://[^\s)]*>?\)|\\([[:punct:]])|\*\*|~~|\|\||__|^(?:#{1,3}|-#) |^> |\*`)
)

// render is a text as people see it: what a backslash makes literal, code and
// the masks of links without their marks, and people by their names. It takes
// a lone mark for one that is paired. Called with mu held.
func (d *Discord) render(text string) string {
	var out strings.Builder
	pos := 0
	for _, at := range discordCode.FindAllStringSubmatchIndex(text, -1) {
		for group := 2; group < len(at); group += 2 {
			if at[group] >= 0 {
				out.WriteString(d.renderProse(text[pos:at[0]]))
				out.WriteString(text[at[group]:at[group+1]])
				pos = at[1]
			}
		}
	}
	out.WriteString(d.renderProse(text[pos:]))
	return out.String()
}

// renderProse renders what is outside of code.
func (d *Discord) renderProse(text string) string {
	text = discordMention.ReplaceAllStringFunc(text, func(tag string) string {
		if u := d.users[strings.Trim(tag, "<@!>")]; u != nil {
			return "@" + u.Name
		}
		return tag
	})
	var out strings.Builder
	pos := 0
	for _, at := range discordMarks.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(text[pos:at[0]])
		pos = at[1]
		switch {
		case at[2] >= 0:
			out.WriteString(d.renderProse(text[at[2]:at[3]]))
		case at[4] >= 0:
			out.WriteString(text[at[4]:at[5]])
		}
	}
	out.WriteString(text[pos:])
	return out.String()
}

// discordHex is how the addresses of files write numbers.
func discordHex(n int64) string { return strconv.FormatInt(n, 16) }
