package coretest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/llm/script"
	"bellhop/core/report"
	"bellhop/store"
)

// Run holds every talk that matches the pattern, each as a subtest named after
// its file. With update, golden sections are rewritten instead of compared.
func Run(t *testing.T, pattern string, update bool) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no talk matches %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { talk(t, file, update) })
	}
}

// talk holds a talk in all its variants.
func talk(t *testing.T, file string, update bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := ParseArchive(data)
	for i, v := range variants(a.Script) {
		one := func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, script := newWorld(t, v.values.Replace(a.Script))
				defer w.end()
				if w.hold(script); !t.Failed() {
					w.used()
					w.compare(&a, update && i == 0)
				}
			})
		}
		if v.name == "" {
			one(t)
		} else {
			t.Run(v.name, one)
		}
	}
	if !update || t.Failed() {
		return
	}
	if err := os.WriteFile(file, a.Format(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// compare compares the golden sections with what is, or rewrites them.
func (w *world) compare(a *Archive, update bool) {
	for i, s := range a.Sections {
		got, err := w.section(s.Name)
		if err != nil {
			w.t.Errorf("%s: %v", s.Name, err)
		}
		if update {
			a.Sections[i].Text = got
			if i < len(a.Sections)-1 {
				a.Sections[i].Text += "\n"
			}
			continue
		}
		if diff := cmp.Diff(strings.Split(strings.TrimSpace(s.Text), "\n"), strings.Split(strings.TrimSpace(got), "\n")); diff != "" {
			w.t.Errorf("%s (-want +got):\n%s", s.Name, diff)
		}
	}
}

// section renders what one observer has seen.
func (w *world) section(name string) (string, error) {
	kind, of, _ := strings.Cut(name, "/")
	switch kind {
	case "chat":
		p, at := w.place(of, "")
		return p.render(at), nil
	case "previews":
		p, at := w.place(of, "")
		return p.growth(at), nil
	case "owner":
		return w.platforms[0].render(w.owner), nil
	case "llm":
		var b strings.Builder
		for i, a := range w.minds.of(of) {
			messages := slices.Clone(a.call.Messages)
			for i := range messages {
				messages[i].Content = short(messages[i].Content)
			}
			text := script.Render(core.Call{Messages: messages})
			_, text, _ = strings.Cut(text, "\n")
			fmt.Fprintf(&b, "call %d\n%s", i+1, text)
		}
		return b.String(), nil
	case "system":
		asked := w.minds.of(of)
		if len(asked) == 0 {
			return "", fmt.Errorf("the model of %s was not asked", of)
		}
		return asked[0].call.System + "\n", nil
	case "hook":
		return w.hooks.render(w, of), nil
	case "effects":
		if len(w.effects) == 0 {
			return "", nil
		}
		return strings.Join(w.effects, "\n") + "\n", nil
	case "commits":
		var b strings.Builder
		for _, c := range w.costs {
			if c.commits > 0 {
				fmt.Fprintf(&b, "%d: %s\n   %s\n", c.commits, short(c.line), strings.Join(c.names, ", "))
			}
		}
		return b.String(), nil
	case "activity":
		var b strings.Builder
		all, _, err := w.store.Activities(w.t.Context(), store.Wanted{Limit: 1000})
		for _, a := range all {
			// The order in which places are served and adapters come up is anybody's guess.
			if a.Event != core.PostDelivered && a.Event != core.AdapterUp {
				fmt.Fprintf(&b, "%s: %s\n", a.Event, report.Summary(a))
			}
		}
		return b.String(), err
	case "ledger":
		books, err := w.store.Audit(w.t.Context())
		return renderBooks(books), err
	}
	return "", fmt.Errorf("there is no such section")
}

// render is a place as a person sees it.
func (p *platform) render(at core.Place) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, m := range p.rooms[at] {
		fmt.Fprintf(&b, "%s %s", m.id, m.author)
		if m.re != "" {
			fmt.Fprintf(&b, " (to %s)", m.re)
		}
		b.WriteString(": ")
		if m.thinking != "" {
			fmt.Fprintf(&b, "> %s\n    ", short(m.thinking))
		}
		b.WriteString(visible(m.text))
		if m.file != nil {
			fmt.Fprintf(&b, "\n    %s: %q", m.file.Name, short(string(m.file.Content)))
		}
		if m.edited {
			b.WriteString(" (edited)")
		}
		for _, mark := range m.marks {
			b.WriteString(" " + mark)
		}
		for _, button := range m.buttons {
			fmt.Fprintf(&b, " [%s]", button.Label)
		}
		for _, tag := range m.tags {
			fmt.Fprintf(&b, " {%s}", tag)
		}
		b.WriteByte('\n')
	}
	for _, note := range p.notes[at] {
		fmt.Fprintf(&b, "%s\n", note)
	}
	return b.String()
}

// growth is what was shown at a place for a while, and when.
func (p *platform) growth(at core.Place) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, v := range p.previews {
		if v.place == at {
			fmt.Fprintf(&b, "%s %s: %s\n", v.at.Sub(p.began), v.id, visible(v.text))
		}
	}
	return b.String()
}

// visible is a message's text for a file that people read.
func visible(text string) string {
	if strings.TrimSpace(text) == "" {
		return strconv.Quote(text)
	}
	return indent(short(strings.ToValidUTF8(text, "�")))
}

// indent sets the lines after the first apart, but for blank ones.
func indent(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n    "), "\n    \n", "\n\n")
}

// short is a long text's beginning and end.
func short(text string) string {
	const most, keep = 1000, 20
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return fmt.Sprintf("%s … %s (%d characters)", string(r[:keep]), string(r[len(r)-keep:]), len(r))
}

func renderBooks(books store.Books) string {
	var b strings.Builder
	for _, it := range books.Items {
		what := string(it.Message)
		if it.Kind == core.ResumeItem {
			what = "resume " + string(it.Run)
		}
		fmt.Fprintf(&b, "item %s: %s for %s, %s", it.ID, what, it.Bot, it.State)
		if it.Parent != "" {
			fmt.Fprintf(&b, ", retries %s", it.Parent)
		}
		if it.Outcome != "" {
			fmt.Fprintf(&b, ", outcome %s", it.Outcome)
		}
		b.WriteByte('\n')
	}
	for _, r := range books.Runs {
		fmt.Fprintf(&b, "run %s: %s, %s, items %v, steps %d, resumes %d\n", r.ID, r.Bot, r.State, r.Items, r.Steps, r.Resumes)
	}
	for _, p := range books.Posts {
		fmt.Fprintf(&b, "post %s: %s, shown %d of %d", p.ID, p.Kind, len(p.Shown), p.Chunks)
		if p.Dead != "" {
			fmt.Fprintf(&b, ", dead: %s", p.Dead)
		}
		for _, f := range p.Feedback {
			fmt.Fprintf(&b, ", %s of %s", f.Emoji, f.From)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
