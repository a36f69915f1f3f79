package coretest

import (
	"bytes"
	"strings"
)

// archive is a txtar file: a comment, which is the script, and sections.
type archive struct {
	script   string
	sections []section
}

type section struct{ name, text string }

func parseArchive(data []byte) archive {
	var a archive
	into := &a.script
	for l := range bytes.Lines(data) {
		name, marker := strings.CutPrefix(strings.TrimRight(string(l), "\n"), "-- ")
		name, end := strings.CutSuffix(name, " --")
		if marker && end {
			a.sections = append(a.sections, section{name: strings.TrimSpace(name)})
			into = &a.sections[len(a.sections)-1].text
			continue
		}
		*into += string(l)
	}
	return a
}

func (a archive) format() []byte {
	var b bytes.Buffer
	b.WriteString(a.script)
	for _, s := range a.sections {
		b.WriteString("-- " + s.name + " --\n" + s.text)
	}
	return b.Bytes()
}
