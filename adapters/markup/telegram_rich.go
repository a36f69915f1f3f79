package markup

// richColumns is the most columns of a table in a Telegram rich message.
const richColumns = 20

// TelegramRich renders one Markdown piece for a rich message, of which
// Telegram's clients make headings and tables. It reports false where HTML shows
// the piece as well: without a table, and with at most one heading. Links lead
// only to the web and to mailboxes.
func TelegramRich(md string) (string, bool) {
	doc := parse(md)
	headings, tables, wide := 0, 0, false
	for _, b := range doc {
		switch b := b.(type) {
		case heading:
			headings++
		case *table:
			tables++
			wide = wide || len(b.align) > richColumns
		}
	}
	if wide || tables == 0 && headings < 2 {
		return "", false
	}
	rewrite(doc, func(r rich, _ bool) rich {
		b := newRichBuilder(len(r.text))
		webLinks(r, b.add)
		return b.rich()
	}, func(f fence) fence { return f })
	return markdown(doc), true
}
