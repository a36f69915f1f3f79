package markup

import (
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// words are what generated Markdown is made of: prose, text that looks like
// markup, and the nasty corners of Unicode.
var words = []string{
	"a", "word", "longer", "Sentence.", "Really?", "naïve", "日本語", "文章。次の文", "مرحبا", "שלום",
	"👩‍👩‍👧‍👦", "🇩🇪", "🏳️‍🌈", "é", "e\u0301\u0302\u0303", "\u202eabc\u202c", "x\u200by",
	"*", "**", "_", "__", "~", "~~", "`", "``", "[", "]", "](", "!", "![", "<", ">", "&", "&amp;", "&#42;", "&nbsp;",
	"\\", "\\*", "\\\\", "#", "##", "1.", "2)", "-", "+", "=", "===", "---", "|", ":-:", "@handle_x", "a@b.example",
	"snake_case_name", "2*3*4", "<b>", "</b>", "<br>", "<script>", "https://e.example/a_b?c=d&e=f", "C:\\dir",
	"(paren)", "\"quoted\"", "it's", "…", "\t", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
}

// inlineGen writes inline Markdown on one line.
func inlineGen(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "atoms") {
			switch kind := rapid.IntRange(0, 13).Draw(t, "atom"); {
			case kind < 7 || depth == 0:
				b.WriteString(rapid.SampledFrom(words).Draw(t, "word"))
			case kind < 11:
				mark := rapid.SampledFrom([]string{"*", "_", "**", "__", "~~", "***"}).Draw(t, "mark")
				b.WriteString(mark + inlineGen(depth-1).Draw(t, "marked") + mark)
			case kind == 11:
				b.WriteString("`" + rapid.SampledFrom(words).Draw(t, "code") + "`")
			default:
				target := rapid.SampledFrom([]string{
					"https://e.example/p?a=1&b=2", "<https://e.example/a b>", "mailto:a@b.example",
					"javascript:alert(1)", "#frag", "tg://user?id=1", "",
				}).Draw(t, "target")
				bang := rapid.SampledFrom([]string{"", "", "!"}).Draw(t, "bang")
				b.WriteString(bang + "[" + inlineGen(depth-1).Draw(t, "label") + "](" + target + ")")
			}
			b.WriteString(rapid.SampledFrom([]string{" ", " ", " ", "", "  "}).Draw(t, "space"))
		}
		return b.String()
	})
}

// blocksGen writes a few blocks of Markdown, as lines.
func blocksGen(depth int) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		var lines []string
		for range rapid.IntRange(1, 4).Draw(t, "blocks") {
			lines = append(lines, blockGen(depth).Draw(t, "block")...)
			if rapid.IntRange(0, 4).Draw(t, "blank") > 0 {
				lines = append(lines, "")
			}
		}
		return lines
	})
}

func blockGen(depth int) *rapid.Generator[[]string] {
	inline := inlineGen(2)
	return rapid.Custom(func(t *rapid.T) []string {
		kinds := 8
		if depth == 0 {
			kinds = 5
		}
		switch rapid.IntRange(0, kinds).Draw(t, "kind") {
		case 0, 1:
			return rapid.SliceOfN(inline, 1, 4).Draw(t, "lines")
		case 2:
			return []string{strings.Repeat("#", rapid.IntRange(1, 6).Draw(t, "level")) + " " + inline.Draw(t, "heading")}
		case 3:
			mark := rapid.SampledFrom([]string{"```", "~~~", "````"}).Draw(t, "fence")
			info := rapid.SampledFrom([]string{"", "go", "c++ title=\"x\"", "a&b"}).Draw(t, "info")
			lines := rapid.SliceOfN(inline, 0, 6).Draw(t, "code")
			for i := range lines {
				lines[i] = rapid.SampledFrom([]string{"", "    ", "\t"}).Draw(t, "indent") + lines[i]
			}
			return append(append([]string{mark + info}, lines...), mark)
		case 4:
			return tableGen.Draw(t, "table")
		case 5:
			return []string{rapid.SampledFrom([]string{"---", "***", "- - -", "    indented", "[ref]: https://e.example", "[ref]"}).Draw(t, "rule")}
		case 6:
			return indented(blocksGen(depth-1).Draw(t, "quote"), "> ", "> ")
		}
		marker := rapid.SampledFrom([]string{"- ", "* ", "+ ", "1. ", "7) ", "999999999. ", "- [ ] ", "- [x] "}).Draw(t, "marker")
		var lines []string
		for range rapid.IntRange(1, 4).Draw(t, "items") {
			item := blocksGen(depth-1).Draw(t, "item")
			lines = append(lines, indented(item, marker, strings.Repeat(" ", strings.IndexByte(marker, ' ')+1))...)
		}
		return lines
	})
}

var tableGen = rapid.Custom(func(t *rapid.T) []string {
	n := rapid.IntRange(1, 4).Draw(t, "columns")
	row := func() string {
		cells := rapid.SliceOfN(inlineGen(1), n, n).Draw(t, "cells")
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		return "| " + strings.Join(cells, " | ") + " |"
	}
	// No two headers are alike, so that a repeated one is known by its text.
	header := "| " + strconv.Itoa(rapid.IntRange(0, 1e9).Draw(t, "number")) + row()[1:]
	lines := []string{header, strings.Repeat("|"+rapid.SampledFrom([]string{"---", ":-:", "--:"}).Draw(t, "align"), n) + "|"}
	for range rapid.IntRange(0, 4).Draw(t, "rows") {
		lines = append(lines, row())
	}
	return lines
})

func indented(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = rest + line
		if i == 0 {
			out[i] = first + line
		}
	}
	return out
}

// markdownGen writes whole texts.
var markdownGen = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(blocksGen(3).Draw(t, "text"), "\n")
})
