package adaptertest_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
	"bellhop/core/llm/script"
)

// render is what people see in all rooms now.
func (s *stage) render() string {
	var b strings.Builder
	for _, r := range s.rooms {
		fmt.Fprintf(&b, "%s\n", r.name)
		s.renderRoom(&b, r, "  ")
	}
	return b.String()
}

func (s *stage) renderRoom(b *strings.Builder, r *room, indent string) {
	shown := s.p.Shown(r.Room)
	for _, m := range shown {
		fmt.Fprintf(b, "%s%s", indent, m.From)
		if i := slices.IndexFunc(shown, func(to adaptertest.Shown) bool { return to.ID == m.ReplyTo }); i >= 0 {
			fmt.Fprintf(b, " (to %s)", shown[i].From)
		}
		b.WriteString(":" + s.text(r, m, indent) + "\n")
		if t := r.threads[m.ID]; t != nil {
			s.renderRoom(b, t, indent+"  | ")
		}
	}
	for _, who := range slices.Sorted(maps.Keys(s.people)) {
		for _, text := range s.p.Whispers(r.Room, s.people[who]) {
			fmt.Fprintf(b, "%s(only %s sees) %s\n", indent, who, lines(text, indent))
		}
	}
}

// text is what a message shows.
func (s *stage) text(r *room, m adaptertest.Shown, indent string) string {
	text := m.Text
	if m.Own {
		text = cmp.Or(m.Source, m.Text)
	}
	if text = lines(short(text), indent); text != "" {
		text = " " + text
	}
	if m.Status != "" {
		text += " {" + m.Status + "}"
	}
	if m.Edits > 0 && !m.Own {
		text += " (edited)"
	}
	for _, f := range m.Files {
		text += fmt.Sprintf(" 📎 %s (%d bytes)", f.Name, len(f.Content))
	}
	for _, label := range m.Buttons {
		text += " [" + label + "]"
	}
	if m.Own && len(m.Pings) > 0 {
		text += fmt.Sprintf(" (notifies %d)", len(m.Pings))
	}
	marks, err := s.p.Marks(r.Room, m.ID)
	if err != nil {
		s.t.Error(err)
	}
	return strings.TrimRight(text+" "+strings.Join(marks, " "), " ")
}

// lines sets all lines but the first apart.
func lines(text, indent string) string {
	out := strings.Split(text, "\n")
	for i := range out[1:] {
		out[i+1] = strings.TrimRight(indent+"  "+out[i+1], " ")
	}
	return strings.Join(out, "\n")
}

// short is a long text's beginning and end.
func short(text string) string {
	const most, keep = 1200, 60
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return fmt.Sprintf("%s … %s (%d characters)", string(r[:keep]), string(r[len(r)-keep:]), len(r))
}

// asked is the last call of the model, without its system prompt.
func (s *stage) asked() string {
	calls := s.model.Calls("")
	if len(calls) == 0 {
		return "nothing"
	}
	_, text, _ := strings.Cut(script.Render(core.Call{Messages: calls[len(calls)-1].Messages}), "\n")
	return text
}
