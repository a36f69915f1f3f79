package perm

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxCommand is how long a command may be, in bytes, that is looked into.
	maxCommand = 16 << 10
	// maxDepth is how many shells may stand within each other.
	maxDepth = 8
	// maxCalls is how many simple commands of a line are looked at.
	maxCalls = 256
)

// shell is a command line. It has one unit for each simple command that a shell
// would run, wherever it stands, and one that no pattern allows if something of
// it cannot be known beforehand. This serves rules and people; what a command can
// do is bounded by the sandbox alone.
func shell(line string) subject {
	r := &reader{}
	normal, ok := r.code(line, frame{})
	s := subject{shown: line, vague: true}
	for _, c := range r.calls {
		s.units = append(s.units, c.unit())
		if !c.free {
			s.runs = append(s.runs, c.kind())
		}
		s.vague = s.vague && c.free // nothing runs
	}
	if s.vague = s.vague || r.vague || !ok; s.vague {
		words := words(line)
		s.units = append(s.units, unit{
			allowed: func(string) bool { return false },
			struck: func(pattern string) strike {
				if namesOne(pattern, words) {
					return mayHit
				}
				return misses
			},
		})
	}
	s.is = func(pattern string) bool {
		if strings.TrimSpace(pattern) == strings.TrimSpace(line) {
			return true
		}
		same, ok := normalised(pattern)
		return ok && !s.vague && same == normal
	}
	s.holds = func(pattern string) bool { return like(pattern, line) || like(pattern, normal) }
	return s
}

// parse reads a command line as bash does. What other shells take differently
// is left out by reader, or is an error to them.
func parse(line string) (*syntax.File, bool) {
	if len(line) > maxCommand || strings.ContainsAny(line, "\x00\r") {
		return nil, false
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	return f, err == nil
}

// normalised is one form for all ways to lay out the same command line.
func normalised(line string) (string, bool) {
	f, ok := parse(line)
	if !ok {
		return "", false
	}
	return printed(f)
}

func printed(f *syntax.File) (string, bool) {
	var b strings.Builder
	err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, f)
	return strings.TrimSpace(b.String()), err == nil
}

// word is a word of a command, its quotes removed.
type word struct {
	text string // unknown stands for what expands
	sure bool   // it is one word, and wholly known
}

// frame is what holds for all commands of a part of the line.
type frame struct {
	env    []string // assignments
	tail   []string // redirections
	writes []string // those of tail that write files
}

// reader collects the simple commands of a line.
type reader struct {
	calls []call
	vague bool // something cannot be known
	depth int
}

// code reads a command line. ok is false when it is none.
func (r *reader) code(line string, in frame) (normal string, ok bool) {
	r.depth++
	defer func() { r.depth-- }()
	f, ok := parse(line)
	if !ok || r.depth > maxDepth {
		r.vague = true
		return "", false
	}
	r.stmts(f.Stmts, in)
	return printed(f)
}

func (r *reader) stmts(list []*syntax.Stmt, in frame) {
	for _, s := range list {
		r.stmt(s, in)
	}
}

func (r *reader) stmt(s *syntax.Stmt, in frame) {
	outer := in
	if len(s.Redirs) > 0 {
		in.tail, in.writes = slices.Clone(in.tail), slices.Clone(in.writes)
	}
	for _, rd := range s.Redirs {
		r.redirect(rd, &in, outer)
	}
	r.vague = r.vague || s.Coprocess || s.Disown
	switch c := s.Cmd.(type) {
	case nil:
		r.run(call{frame: in})
	case *syntax.CallExpr:
		r.call(c, in, outer)
	case *syntax.DeclClause:
		r.declare(c, in, outer)
	case *syntax.Subshell:
		r.stmts(c.Stmts, in)
	case *syntax.Block:
		r.stmts(c.Stmts, in)
	case *syntax.BinaryCmd:
		r.stmt(c.X, in)
		r.stmt(c.Y, in)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.stmt(c.Stmt, in)
		}
	case *syntax.WhileClause:
		r.stmts(c.Cond, in)
		r.stmts(c.Do, in)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(c.Cond, in)
			r.stmts(c.Then, in)
		}
	case *syntax.CaseClause:
		r.inner(c.Word, outer)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				r.inner(p, outer)
			}
			r.stmts(item.Stmts, in)
		}
	default: // loops over variables, functions, arithmetic, tests and what only some shells have
		r.vague = true
		r.inner(c, outer)
	}
}

// redirect notes a redirection. Copying a descriptor, and /dev/null, count as
// none.
func (r *reader) redirect(rd *syntax.Redirect, in *frame, outer frame) {
	r.inner(rd, outer)
	to := r.word(rd.Word)
	switch rd.Op {
	case syntax.DplIn, syntax.DplOut:
		if to.sure && strings.Trim(to.text, "0123456789-") == "" {
			return
		}
	case syntax.Hdoc, syntax.DashHdoc:
		to = word{text: "EOF", sure: true}
	}
	if to.sure && to.text == "/dev/null" {
		return
	}
	t := rd.Op.String() + " " + quoted(to.text)
	if rd.N != nil {
		t = rd.N.Value + t
	}
	in.tail = append(in.tail, t)
	switch rd.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
	default:
		in.writes = append(in.writes, t)
	}
}

// inner reads the commands within what expands, and notes expansions that change
// variables.
func (r *reader) inner(n syntax.Node, in frame) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.stmts(n.Stmts, in)
			return false
		case *syntax.ProcSubst:
			r.stmts(n.Stmts, in)
			return false
		case *syntax.Stmt:
			r.stmt(n, in)
			return false
		case *syntax.ParamExp:
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				r.vague = true
			}
		}
		return true
	})
}

// note keeps a call.
func (r *reader) note(c call) {
	if len(r.calls) == maxCalls {
		r.vague = true
		return
	}
	r.calls = append(r.calls, c)
}

func (r *reader) call(c *syntax.CallExpr, in, outer frame) {
	r.inner(c, outer)
	in.env = slices.Clone(in.env)
	for _, a := range c.Assigns {
		in.env = append(in.env, r.assign(a).text)
	}
	args := make([]word, len(c.Args))
	for i, w := range c.Args {
		args[i] = r.word(w)
	}
	r.run(call{frame: in, args: args})
}

func (r *reader) declare(c *syntax.DeclClause, in, outer frame) {
	r.inner(c, outer)
	args := []word{{c.Variant.Value, true}}
	for _, a := range c.Args {
		args = append(args, r.assign(a))
	}
	r.run(call{frame: in, args: args})
}

// assign is an assignment as a word.
func (r *reader) assign(a *syntax.Assign) word {
	if a.Index != nil || a.Array != nil {
		r.vague = true
	}
	var w word
	if a.Value != nil {
		w = r.word(a.Value)
	}
	if a.Name == nil {
		return w
	}
	text := a.Name.Value
	switch {
	case a.Append:
		text += "+="
	case !a.Naked:
		text += "="
	}
	if w.text != "" {
		text += quoted(w.text)
	}
	return word{text, a.Value == nil || w.sure}
}

// word removes the quotes of a word.
func (r *reader) word(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	out := word{sure: true}
	var b strings.Builder
	vague := func() {
		out.sure = false
		b.WriteRune(unknown)
	}
	for i, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.HasPrefix(p.Value, "~") && i == 0 || expands(p.Value) {
				vague()
			} else {
				b.WriteString(unescaped(p.Value, ""))
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				vague()
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok && !p.Dollar {
					b.WriteString(unescaped(lit.Value, "$`\"\\\n"))
				} else {
					vague()
				}
			}
		default:
			vague()
		}
	}
	out.text = b.String()
	return out
}

// expands reports whether an unquoted literal can stand for other words: file
// names, or the alternatives in braces.
func expands(lit string) bool {
	if lit == "{}" || lit == "[" { // as find and test have them
		return false
	}
	for i := 0; i < len(lit); i++ {
		switch lit[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		case '~': // after the = of an assignment or a colon
			if i > 0 && (lit[i-1] == '=' || lit[i-1] == ':') {
				return true
			}
		}
	}
	return false
}

// unescaped removes the backslashes that the shell removes: those before one of
// the characters, or before any if there are none.
func unescaped(s, before string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (before == "" || strings.IndexByte(before, s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// quoted is a word as texts show it: in quotes if it could be taken for several,
// or for something else than a word.
func quoted(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n;|&<>()'\"`$\\") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// words are the words in a text that may be the names of commands, however they
// are quoted: with their folder and without.
func words(text string) []string {
	text = strings.NewReplacer(`\`, "", `'`, "", `"`, "").Replace(text)
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune(" \t\r\n;|&<>(){}[]$`=,!\x00", r)
	}) {
		out = append(out, w, path.Base(w))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namesOne reports whether the command that a pattern begins with is among the
// words.
func namesOne(pattern string, words []string) bool {
	name, _, _ := strings.Cut(strings.TrimSpace(pattern), " ")
	return slices.ContainsFunc(words, func(w string) bool { return like(name, w) })
}
