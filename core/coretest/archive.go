package coretest

import (
	"bytes"
	"strings"
)

// Archive is a txtar file: a comment, which is the script, and sections.
type Archive struct {
	Script   string
	Sections []Section
}

// Section is a named part of an Archive.
type Section struct{ Name, Text string }

// ParseArchive reads a txtar file.
func ParseArchive(data []byte) Archive {
	var a Archive
	into := &a.Script
	for l := range bytes.Lines(data) {
		name, marker := strings.CutPrefix(strings.TrimRight(string(l), "\n"), "-- ")
		name, end := strings.CutSuffix(name, " --")
		if marker && end {
			a.Sections = append(a.Sections, Section{Name: strings.TrimSpace(name)})
			into = &a.Sections[len(a.Sections)-1].Text
			continue
		}
		*into += string(l)
	}
	return a
}

// Format writes it as ParseArchive reads it.
func (a Archive) Format() []byte {
	var b bytes.Buffer
	b.WriteString(a.Script)
	for _, s := range a.Sections {
		b.WriteString("-- " + s.Name + " --\n" + s.Text)
	}
	return b.Bytes()
}
