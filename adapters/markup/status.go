package markup

// WithStatus is a Markdown text with a line below it, in italics, that says
// what its writer does now. Nothing in the text can swallow the line: what the
// text leaves open is closed. The status is plain text; an empty one adds
// nothing.
func WithStatus(md, status string) string {
	line := statusLine(status)
	if len(line.spans) == 0 {
		return md
	}
	return markdown(append(parse(md), paragraph{line}))
}

// statusLine is a status on one line.
func statusLine(status string) rich {
	b := newRichBuilder(len(status))
	b.add(oneLine(status), italic, "")
	return b.rich()
}
