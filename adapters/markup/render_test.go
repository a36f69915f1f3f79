package markup

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// renderings are pairs of Markdown and what it becomes.
var renderings = []struct {
	name, md, html, plain string
}{
	{"text", "a < b & c > \"d\"", `a &lt; b &amp; c &gt; "d"`, `a < b & c > "d"`},
	{"soft and hard breaks stay", "a\nb  \nc\\\nd", "a\nb\nc\nd", "a\nb\nc\nd"},
	{"blank lines become one", "a\n\n\n\nb  ", "a\n\nb", "a\n\nb"},
	{"emphasis", "*a* __b__ ~~c~~ ***d***", "<i>a</i> <b>b</b> <s>c</s> <b><i>d</i></b>", "a b c d"},
	{"nested emphasis", "**a *b ~~c~~* d**", "<b>a <i>b <s>c</s></i> d</b>", "a b c d"},
	{"emphasis in itself", "**a **b** c**", "<b>a b c</b>", "a b c"},
	{"loose marks", "2 * 3 ** a_b_c", "2 * 3 ** a_b_c", "2 * 3 ** a_b_c"},
	{"code", "a `<b> *c*` d", "a <code>&lt;b&gt; *c*</code> d", "a <b> *c* d"},
	{"code leaves other styles", "**a `b` c**", "<b>a </b><code>b</code><b> c</b>", "a b c"},
	{"escapes and entities", `\*a\* &copy; &#42; &bogus; &#10;`, "*a* © * &amp;bogus;", "*a* © * &bogus;"},
	{"headings", "# A *b* `c`\n\n### D\nE\n===", "<b>A <i>b</i> </b><code>c</code>\n\n<b>D</b>\n\n<b>E</b>", "A b c\n\nD\n\nE"},
	{
		"links", "[a *b*](https://x.y/?p=1&q=\"2\") <https://z.w> <m@n.o> [t](tg://user?id=1)",
		`<a href="https://x.y/?p=1&amp;q=&quot;2&quot;">a <i>b</i></a> <a href="https://z.w">https://z.w</a> <a href="mailto:m@n.o">m@n.o</a> <a href="tg://user?id=1">t</a>`,
		`a b (https://x.y/?p=1&q="2") https://z.w m@n.o t (tg://user?id=1)`,
	},
	{"links nobody follows", "[a](javascript:x) [b](/c) [d](#e) [f]()", "a (javascript:x) b (/c) d (#e) f", "a (javascript:x) b (/c) d (#e) f"},
	{"reference links", "[a][r] [r]\n\n[r]: http://x.y \"title\"", `<a href="http://x.y">a</a> <a href="http://x.y">r</a>`, "a (http://x.y) r (http://x.y)"},
	{"code in links", "[`a` b](http://x.y)", `<a href="http://x.y">a b</a>`, "a b (http://x.y)"},
	{"images", "![a](http://x.y/z.png) ![](http://x.y)", `<a href="http://x.y/z.png">a</a> <a href="http://x.y">http://x.y</a>`, "a (http://x.y/z.png) http://x.y"},
	{"image in link", "[![a](http://i.j)](http://x.y)", `<a href="http://x.y">a</a>`, "a (http://x.y)"},
	{
		"handles", "@some_bot (@other_bot) **@third_bot** a@mail_host @abc `@code_bot` [@link_bot](http://x.y)",
		`<code>@some_bot</code> (<code>@other_bot</code>) <code>@third_bot</code> a@mail_host @abc <code>@code_bot</code> <a href="http://x.y">@link_bot</a>`,
		"@some_bot (@other_bot) @third_bot a@mail_host @abc @code_bot @link_bot (http://x.y)",
	},
	{"handle in pieces", "@**foo**_bar https://t.example/@user_name", "<code>@foo_bar</code> https://t.example/@user_name", "@foo_bar https://t.example/@user_name"},
	{"fence", "```go title=x\nif a < b {\n\n\tc() \n}\n```", "<pre><code class=\"language-go\">if a &lt; b {\n\n\tc()\n}</code></pre>", "if a < b {\n\n\tc()\n}"},
	{"fence without language", "~~~\n*a*\n~~~", "<pre>*a*</pre>", "*a*"},
	{"fence with odd language", "```a\"b&amp;c\nx\n```", `<pre><code class="language-a&quot;b&amp;c">x</code></pre>`, "x"},
	{"open fence", "```\na", "<pre>a</pre>", "a"},
	{"blank lines in code", "```\na" + strings.Repeat("\n \n", 10) + "b\n```", "<pre>a" + strings.Repeat("\n", 9) + "b</pre>", "a" + strings.Repeat("\n", 9) + "b"},
	{"empty fence", "```\n\n```", "", ""},
	{"indented code", "    a\n      b", "<pre>a\n  b</pre>", "a\n  b"},
	{"quote", "> a\n> **b**\n>\n> > c", "<blockquote>a\n<b>b</b>\n\nc</blockquote>", "a\nb\n\nc"},
	{"code in quote", "> a\n>\n>     b", "<blockquote>a\n\n<pre>b</pre></blockquote>", "a\n\nb"},
	{"rule", "a\n\n---\n\nb", "a\n\n———\n\nb", "a\n\n———\n\nb"},
	{"list", "- a\n- b\n  c\n  - d\n    - e\n- f", "• a\n• b\n  c\n  • d\n    • e\n• f", "• a\n• b\n  c\n  • d\n    • e\n• f"},
	{"numbers", "3. a\n4. b\n   1) c\n9. d", "3. a\n4. b\n  1. c\n5. d", "3. a\n4. b\n  1. c\n5. d"},
	{"loose list", "- a\n\n  b\n\n- c", "• a\n\n  b\n\n• c", "• a\n\n  b\n\n• c"},
	{"tasks", "- [ ] a\n- [x] b\n\n1. [X] c", "☐ a\n☑ b\n\n1. ☑ c", "☐ a\n☑ b\n\n1. ☑ c"},
	{"code in list", "- a\n  ```\n  b\n  ```\n- ```\n  c\n  ```", "• a\n<pre>b</pre>\n•\n<pre>c</pre>", "• a\nb\n•\nc"},
	{"list without text", "- - a\n  - b\n- c", "  • a\n  • b\n• c", "  • a\n  • b\n• c"},
	{
		"table", "| Name | N | 中 |\n|:--|--:|:-:|\n| *a* | 10 | 文字 |\n| `b\\|c` | 7 |",
		"<pre>Name   N   中\n----  --  ----\na     10  文字\nb|c    7</pre>",
		"Name   N   中\n----  --  ----\na     10  文字\nb|c    7",
	},
	{"table with links and breaks", "|a|\n|-|\n|[b](http://x.y)<br>c|", "<pre>a\n----------------\nb (http://x.y) c</pre>", "a\n----------------\nb (http://x.y) c"},
	{"raw HTML", "<b>a</b> <!-- c --> x<br>y<BR/>z", "&lt;b&gt;a&lt;/b&gt; &lt;!-- c --&gt; x\ny\nz", "<b>a</b> <!-- c --> x\ny\nz"},
	{"HTML block", "<div>\n<script>alert(1)</script>\n</div>", "&lt;div&gt;\n&lt;script&gt;alert(1)&lt;/script&gt;\n&lt;/div&gt;", "<div>\n<script>alert(1)</script>\n</div>"},
	{"controls", "a\x00b\x1b[1mc\u0085d\re\r\nf", "ab[1mcd\ne\nf", "ab[1mcd\ne\nf"},
	{"invalid UTF-8", "a\xffb \xed\xa0\x80", "a\ufffdb \ufffd\ufffd\ufffd", "a\ufffdb \ufffd\ufffd\ufffd"},
	{"blank", " \n\t\n", "", ""},
	{"references only", "[a]: http://x.y", "", ""},
}

func TestRender(t *testing.T) {
	for _, tt := range renderings {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.html, TelegramHTML(tt.md)); diff != "" {
				t.Errorf("TelegramHTML (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.plain, Plain(tt.md)); diff != "" {
				t.Errorf("Plain (-want +got):\n%s", diff)
			}
			checkHTML(t, tt.md)
		})
	}
}

// TestMarkdownKeepsStyles checks with every rendering that the Markdown
// writer keeps the styles, too.
func TestMarkdownKeepsStyles(t *testing.T) {
	for _, tt := range renderings {
		back := markdown(parse(tt.md))
		if diff := cmp.Diff(tt.html, TelegramHTML(back)); diff != "" {
			t.Errorf("%s: written as %q (-want +got):\n%s", tt.name, back, diff)
		}
	}
}

func TestDeepNestingIsText(t *testing.T) {
	for _, mark := range []string{"> ", "- ", "1. "} {
		got := Plain(strings.Repeat(mark, 40) + "a")
		if n := strings.Count(got, strings.TrimSpace(mark)); n < 40-maxDepth {
			t.Errorf("%d of 40 %q shown in %q", n, mark, got)
		}
	}
}

// A paragraph longer than a window is parsed in parts but stays one
// paragraph.
func TestLongParagraph(t *testing.T) {
	for _, sep := range []string{" ", "\n"} {
		md := strings.Repeat("a **b** c"+sep, window/4)
		want := strings.TrimSpace(strings.Repeat("a <b>b</b> c"+sep, window/4))
		got := TelegramHTML(md)
		if off := strings.Count(want, "<b>") - strings.Count(got, "<b>"); off > 10 || strings.Contains(got, "\n\n") {
			t.Errorf("with %q: %d of the styles are lost", sep, off)
		}
	}
}

func TestTelegramMeasure(t *testing.T) {
	target := Telegram()
	tooLong := target.Max + 1
	for _, tt := range []struct {
		name, md string
		want     int
	}{
		{"text", "*a* `b`", 3},
		{"emoji", "👍", 2},
		{"link", "[a](http://x.y)", len("a (http://x.y)")},
		{"much markup", strings.Repeat("*a* b ", 1000), 3999},
		{"more than 32 KiB of HTML", strings.Repeat("***~~a~~*** ", 2000), tooLong},
	} {
		if got := target.Measure(tt.md); got != tt.want {
			t.Errorf("%s: measures %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestUTF16Len(t *testing.T) {
	for s, want := range map[string]int{"": 0, "aé文": 3, "👍": 2, "👩‍👩‍👧": 8, "\xff": 1} {
		if got := UTF16Len(s); got != want {
			t.Errorf("UTF16Len(%q) = %d, want %d", s, got, want)
		}
	}
}
