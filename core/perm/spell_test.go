package perm

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// unspell is the text that is shown as it is; false: nothing is.
func unspell(shown string) (string, bool) {
	var b strings.Builder
	for shown != "" {
		kind, rest, found := strings.Cut(shown, "{")
		if digits, after, ends := strings.Cut(rest, "}"); found && ends && (kind == `\u` || kind == `\x`) {
			n, err := strconv.ParseUint(digits, 16, 32)
			switch {
			case err != nil:
				return "", false
			case kind == `\x`:
				b.WriteByte(byte(n))
			default:
				b.WriteRune(rune(n))
			}
			shown = after
			continue
		}
		_, size := utf8.DecodeRuneInString(shown)
		b.WriteString(shown[:size])
		shown = shown[size:]
		if next := strings.Index(shown, `\`); next > 0 { // nothing up to it can be an escape
			b.WriteString(shown[:next])
			shown = shown[next:]
		}
	}
	return b.String(), true
}

// inkless are characters that are graphic, by their properties, and are not seen.
const inkless = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u034f\ufffc\U00013441\U00013442\U00016fe4\U0001d159"

// inked reports whether a person sees the character, and sees it where it stands.
func inked(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == ' ':
		return true
	case strings.ContainsRune(inkless, r):
		return false
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Z, unicode.Bidi_Control, unicode.Join_Control, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point, unicode.White_Space):
		return false
	}
	return unicode.IsGraphic(r)
}

// nasty are pieces of which texts are made that try to look like others.
var nasty = []string{
	"rm -rf /", "ls", "a", "e", "é", "e\u0301", "\u0301", "ко", "日本", "שלום", "🔥", "❤\ufe0f", "👩\u200d👩", "\n", "\t", "\r", " ", "\u00a0", "\u2028", "\u2029", "\u3000",
	"\u200b", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069", "\u061c", "\ufeff", "\u00ad", "\u034f", "\u115f", "\u3164", "\uffa0", "\u2800", "\u180e", "\x00", "\x1b[31m", "\x7f", "\u0085",
	"\U000e0041", "\U000e0100", "\ufe00", "\ue000", "\ufffd", "\uffff", "\U0010ffff", "\xff", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80",
	`\`, `\\`, `\u`, `\u{`, `\u{200b}`, `\u{5c}`, `\x{ff}`, `\x{`, `u{41}`, "{", "}", "`", "```", "\u0336", "\u20dd", "\u0489", "\u1cf7", "\u0e33", "\u0941", "\u17d2",
}

func someText(dice *rand.Rand) string {
	var b strings.Builder
	for range 1 + dice.IntN(8) {
		switch dice.IntN(10) {
		case 0:
			b.WriteRune(rune(dice.IntN(unicode.MaxRune + 1))) // a surrogate is U+FFFD
		case 1:
			b.WriteByte(byte(dice.IntN(256)))
		default:
			b.WriteString(nasty[dice.IntN(len(nasty))])
		}
	}
	return b.String()
}

// checkSpelt holds one text against what Spell promises.
func checkSpelt(t *testing.T, text string) string {
	t.Helper()
	shown := Spell(text)
	if back, ok := unspell(shown); !ok || back != text {
		t.Errorf("%+q is shown as %q, which reads %+q", text, shown, back)
	}
	if !utf8.ValidString(shown) {
		t.Errorf("%+q is shown as %+q", text, shown)
	}
	for _, r := range shown {
		if !inked(r) {
			t.Errorf("%+q is shown as %+q, with %U in it", text, shown, r)
		}
	}
	if marks := strings.Count(shown, "\u0301"); marks > 0 && strings.Contains(shown, strings.Repeat("\u0301", maxAccents+1)) {
		t.Errorf("%+q is shown with %d accents", text, marks)
	}
	return shown
}

// TestSpell: what is shown says, to the letter, what would be run, whatever is in
// it, and no two texts are shown alike.
func TestSpell(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 1))
	seen := map[string]string{}
	for range many {
		text := someText(dice)
		shown := checkSpelt(t, text)
		if other, ok := seen[shown]; ok && other != text {
			t.Fatalf("%+q and %+q are both shown as %q", text, other, shown)
		}
		seen[shown] = text
		if t.Failed() {
			return
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == 0x32000 { // nothing is assigned from here on to the tags
			r = 0xe0000
		}
		if r == 0xe1000 { // nothing but private use
			r = unicode.MaxRune
		}
		if utf8.ValidRune(r) {
			checkSpelt(t, "a"+string(r))
		}
	}
}

// TestSpelt has the texts that others were deceived with.
func TestSpelt(t *testing.T) {
	for text, want := range map[string]string{
		"rm -rf ./build":                        "rm -rf ./build",
		"rm -rf /\u200bhome":                    `rm -rf /\u{200b}home`,
		"echo \u202egnp.exe":                    `echo \u{202e}gnp.exe`,
		"ls\r\nrm x":                            "ls\\u{d}\nrm x",
		"a\u00a0b":                              `a\u{a0}b`,
		`echo \u{200b}`:                         `echo \u{5c}u{200b}`,
		`C:\users`:                              `C:\users`,
		`\\u{41}`:                               `\\u{5c}u{41}`,
		"\x1b[2Kls":                             `\u{1b}[2Kls`,
		"x\xff":                                 `x\x{ff}`,
		"x\ufffd":                               "x\ufffd",
		"日本 привет שלום":                        "日本 привет שלום",
		"né":                                    "né",
		"z\u0336\u0336\u0336\u0336":             "z\\u{336}\\u{336}\\u{336}\\u{336}",
		"e\u0301 é":                             "e\\u{301} é",
		"\u0e19\u0e35\u0e49 \u0e19\u0e49\u0e35": "\u0e19\u0e35\u0e49 \u0e19\u0e49\\u{e35}", // the same two marks, in either order
		"\u1112\u1161 하":                        "\\u{1112}\\u{1161} 하",
		"ls \u037e \u1fef \u212a":               `ls \u{37e} \u{1fef} \u{212a}`,
		"сat ./сc ./рос x.рy":                   `\u{441}at ./\u{441}c ./\u{440}\u{43e}\u{441} x.\u{440}y`,
		"\u0301ls":                              `\u{301}ls`,
		"fam \U0001f469\u200d\u2764\ufe0f":      "fam \U0001f469\\u{200d}\u2764\\u{fe0f}",
	} {
		if got := Spell(text); got != want {
			t.Errorf("%+q is shown as %q, want %q", text, got, want)
		}
	}
}

func FuzzSpell(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkSpelt(t, text)
		if twice, ok := unspell(Spell(Spell(text))); !ok || twice != Spell(text) {
			t.Errorf("%+q is not what it was after two turns", text)
		}
	})
}

// TestLanguagesStay: who writes in their language reads it.
func TestLanguagesStay(t *testing.T) {
	for _, text := range []string{
		"Déjà vu, über Straße, ışık, łódź, České", "Xoá tệp này, tiếng Việt", "Удали файл отчёт.txt, пожалуйста!", "Διαγραφή του αρχείου", "删除文件 报告.txt", "ファイルを削除する", "파일을 삭제",
		"احذف الملف", "מחק את הקובץ", "फ़ाइल हटाओ", "ลบไฟล์นี้", "ফাইল মুছুন", "கோப்பை நீக்கு", "🔥 × ½ € → ≤ §", "PDFファイル", "x²",
	} {
		if got := Spell(text); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}

// lookalikes are what may be taken for a character of ASCII.
var lookalikes = map[rune][]rune{
	'a': []rune("аαɑａ𝐚ⓐ"), 'c': []rune("сϲｃⅽ𝚌"), 'd': []rune("ԁⅾｄ"), 'e': []rune("еｅ𝐞"), 'h': []rune("һｈ"), 'i': []rune("іｉⅰι"), 'j': []rune("јϳ"), 'l': []rune("ӏⅼｌ"),
	'o': []rune("оοօｏ०ס"), 'p': []rune("рρｐ"), 's': []rune("ѕｓ"), 'x': []rune("хⅹｘχ"), 'y': []rune("уүｙ"), 'A': []rune("АΑＡᎪꓮ"), 'K': []rune("КΚ\u212a"), 'M': []rune("МΜⅯ"),
	'-': []rune("‐‑‒–−－"), '/': []rune("⁄∕／"), ';': []rune("\u037e；"), '\'': []rune("’‘ʼ＇"), '"': []rune("“”＂"), '`': []rune("\u1fef｀ˋ"), '|': []rune("∣ǀ｜"), '*': []rune("∗＊"),
	':': []rune("∶꞉：ː"), '.': []rune("․．"), '~': []rune("∼～"), '<': []rune("‹＜"), '>': []rune("›＞"), '$': []rune("＄﹩"), '&': []rune("＆﹠"), '(': []rune("（❨"), '{': []rune("｛❴"), '!': []rune("ǃ！"), '=': []rune("＝"),
}

// TestNothingLooksLikeASCII: of a command with other characters in it that look
// like its own, nobody is shown that command.
func TestNothingLooksLikeASCII(t *testing.T) {
	folds := map[rune]rune{}
	for ascii, all := range lookalikes {
		for _, r := range all {
			folds[r] = ascii
		}
	}
	seen := func(text string) string {
		return strings.Map(func(r rune) rune {
			if ascii, ok := folds[r]; ok {
				return ascii
			}
			return r
		}, Spell(text))
	}
	dice := rand.New(rand.NewPCG(9, 4))
	lines := []string{"cat ./docs/list.md", "ls -la /home/x; echo 'ok'", "rm -rf \"$HOME\"/old", "scp a:b c:d", "sleep 5 && ./deploy --all", "A=1 KM=2 ./x | y > z", "echo `id` {a} ~ *!"}
	for range many {
		line := []rune(lines[dice.IntN(len(lines))])
		was := string(line)
		for range 1 + dice.IntN(5) {
			i := dice.IntN(len(line))
			if all := lookalikes[line[i]]; all != nil {
				line[i] = all[dice.IntN(len(all))]
			}
		}
		now := string(line)
		if now != was && seen(now) == seen(was) {
			t.Fatalf("%+q is shown as %q, like %q", now, Spell(now), was)
		}
	}
}
