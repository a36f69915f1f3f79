package perm

import (
	"path"
	"slices"
	"strings"
)

// wrapper is a command that runs the command in its last words.
type wrapper struct {
	bare, valued []string // its options, without and with a value
	operands     int      // words between them and the command
	env          bool     // assignments may stand before the command
	power        bool     // the command may do more than it could alone, or something else
}

// wrappers are looked through where their options are known.
var wrappers = map[string]wrapper{
	"builtin": {},
	"busybox": {},
	"chronic": {},
	"command": {bare: []string{"-p"}},
	"doas":    {bare: []string{"-n"}, valued: []string{"-u"}, power: true},
	"env":     {bare: []string{"-i", "--ignore-environment"}, valued: []string{"-u", "--unset"}, env: true},
	"exec":    {},
	"ionice":  {valued: []string{"-c", "--class", "-n", "--classdata"}},
	"nice":    {valued: []string{"-n", "--adjustment"}},
	"nohup":   {},
	"setsid":  {bare: []string{"-c", "--ctty", "-f", "--fork", "-w", "--wait"}},
	"stdbuf":  {valued: []string{"-i", "--input", "-o", "--output", "-e", "--error"}},
	"sudo": {bare: []string{"-n", "--non-interactive", "-E", "--preserve-env", "-H", "--set-home", "-k", "-S", "--stdin"},
		valued: []string{"-u", "--user", "-g", "--group"}, env: true, power: true},
	"time":    {bare: []string{"-p", "-v"}},
	"timeout": {bare: []string{"--foreground", "--preserve-status", "-v", "--verbose"}, valued: []string{"-s", "--signal", "-k", "--kill-after"}, operands: 1},
	"toybox":  {},
	"xargs": {bare: []string{"-0", "--null", "-r", "--no-run-if-empty", "-t", "--verbose", "-x", "--exit"},
		valued: []string{"-n", "--max-args", "-P", "--max-procs", "-L", "-s", "--max-chars", "-d", "--delimiter", "-I", "-a", "--arg-file"}},
}

// shells run what they are given, or what a file or their input holds.
var shells = []string{"ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"}

// runners may run, in ways that are not looked into, what their words say.
var runners = []string{"awk", "chroot", "ed", "ex", "flock", "gawk", "gdb", "ltrace", "make", "mawk", "node", "nsenter", "parallel", "perl", "php",
	"python", "python3", "ruby", "runuser", "rsync", "script", "ssh", "strace", "su", "systemd-run", "tar", "taskset", "unshare", "vi", "vim", "watch"}

// evaluators take subscripts of variables, in which a shell runs commands.
var evaluators = []string{"[", "declare", "export", "getopts", "let", "local", "mapfile", "printf", "read", "readarray", "readonly", "test", "typeset", "unset", "wait"}

// plain is the name of a program that is what its name says: one found by the
// search path, or in a folder of the system. Of another program of that name
// nothing is known.
func (c *call) plain() string {
	name := c.name()
	if dir := path.Dir(name); strings.Contains(name, "/") && dir != "/bin" && dir != "/usr/bin" {
		return ""
	}
	return path.Base(name)
}

// run notes a command, or what it runs.
func (r *reader) run(c call) {
	if len(c.args) == 0 {
		if len(c.env)+len(c.tail) > 0 {
			r.note(c)
		}
		return
	}
	if !c.args[0].sure {
		r.vague = true
	}
	name := c.plain()
	w, wraps := wrappers[name]
	switch {
	case name == "":
		c.blind = true
	case wraps:
		if r.unwrap(c, w) {
			return
		}
	case slices.Contains(shells, name):
		if r.shell(&c) {
			return
		}
	case name == "eval":
		r.within(c, c.args[1:])
		return
	case name == "trap" && len(c.args) > 1:
		r.within(c, c.args[1:2])
	case name == "find":
		r.find(c)
	case name == "git":
		c.upto = configured(c.args)
		c.blind = c.upto > 0
	case name == "." || name == "source":
		c.upto, c.blind = 2, true
	case slices.Contains(runners, name):
		c.blind = true
	case slices.Contains(evaluators, name):
		r.vague = r.vague || slices.ContainsFunc(c.args, func(w word) bool {
			return strings.Contains(w.text, "[") && strings.ContainsAny(w.text, "$`")
		})
	}
	r.note(c)
}

// unwrap notes the command that c runs; false: c runs none.
func (r *reader) unwrap(c call, w wrapper) bool {
	if c.args[0].text == "command" && len(c.args) > 1 && (c.args[1].text == "-v" || c.args[1].text == "-V") {
		return false
	}
	at, slot, ok := w.options(c.args)
	at += w.operands
	if !ok || len(c.outer) == maxDepth || slices.ContainsFunc(c.args[:min(at, len(c.args))], func(w word) bool { return !w.sure }) {
		r.vague = true
		return false
	}
	in := c
	in.env = slices.Clone(c.env)
	for w.env && at < len(c.args) && strings.Contains(c.args[at].text, "=") {
		if !c.args[at].sure {
			r.vague = true
			return false
		}
		in.env = append(in.env, quoted(c.args[at].text))
		at++
	}
	if at >= len(c.args) {
		return false
	}
	in.args = slices.Clone(c.args[at:])
	if name := c.plain(); name == "xargs" {
		in.fed = slot == ""
		for i, w := range in.args {
			if slot != "" && strings.Contains(w.text, slot) {
				in.args[i] = word{text: strings.ReplaceAll(w.text, slot, string(unknown))}
			}
		}
	}
	outer := c
	outer.outer = nil
	in.outer = append(slices.Clone(c.outer), outer)
	if w.power && in.shut == 0 {
		in.shut = len(in.outer)
	}
	r.run(in)
	return true
}

// options is where the words after a command's options begin; slot is what -I
// names. ok is false when there is an option that is not known.
func (w wrapper) options(args []word) (at int, slot string, ok bool) {
	for at = 1; at < len(args); at++ {
		o := args[at].text
		name, value, attached := strings.Cut(o, "=")
		switch {
		case !args[at].sure || !strings.HasPrefix(o, "-"):
			return at, slot, true
		case o == "--":
			return at + 1, slot, true
		case slices.Contains(w.bare, o):
			continue
		case slices.Contains(w.valued, o):
			if at++; at < len(args) {
				value = args[at].text
			}
			name = o
		case strings.HasPrefix(o, "--") && attached && slices.Contains(w.valued, name):
		case !strings.HasPrefix(o, "--") && len(o) > 2 && slices.Contains(w.valued, o[:2]):
			name, value = o[:2], o[2:]
		default:
			return at, slot, false
		}
		if name == "-I" {
			slot = value
		}
	}
	return at, slot, true
}

// shell notes what a shell runs that is given a command, or the call of a file;
// false: the call c stands for itself.
func (r *reader) shell(c *call) bool {
	at, command := 1, false
	for ; at < len(c.args) && c.args[at].sure && strings.ContainsAny(c.args[at].text[:min(1, len(c.args[at].text))], "-+"); at++ {
		flags := c.args[at].text[1:]
		if strings.Trim(flags, "cefux") != "" || flags == "" {
			at = len(c.args)
			break
		}
		command = command || strings.Contains(flags, "c")
	}
	switch {
	case at >= len(c.args): // it reads its input, or nobody knows
		r.vague = true
	case command:
		r.within(*c, c.args[at:at+1])
		return true
	default:
		c.upto, c.blind = at+1, true
	}
	return false
}

// within reads the commands in the words that c takes for a command line.
func (r *reader) within(c call, code []word) {
	c.free = true
	r.note(c)
	var line []string
	for _, w := range code {
		r.vague = r.vague || !w.sure
		line = append(line, strings.ReplaceAll(w.text, string(unknown), "$x"))
	}
	r.vague = r.vague || c.shut > 0
	if len(line) > 0 {
		r.code(strings.Join(line, " "), c.frame)
	}
}

// find notes the commands that find runs on what it finds.
func (r *reader) find(c call) {
	for at := 1; at < len(c.args); at++ {
		if !c.args[at].sure { // it may be a file's name, or -exec
			r.vague = true
		}
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, c.args[at].text) {
			continue
		}
		in := call{frame: c.frame, shut: c.shut}
		for at++; at < len(c.args) && c.args[at].text != ";" && c.args[at].text != "+"; at++ {
			w := c.args[at]
			if strings.Contains(w.text, "{}") {
				w = word{text: strings.ReplaceAll(w.text, "{}", string(unknown))}
			}
			in.args = append(in.args, w)
		}
		r.vague = r.vague || c.shut > 0
		r.run(in)
	}
}

// configured is how many words of a call of git there are up to its command, if
// options before that can make git run something else; 0: none do.
func configured(args []word) int {
	n := 0
	for i := 1; i < len(args); i++ {
		o := args[i].text
		switch {
		case !args[i].sure:
			return len(args)
		case !strings.HasPrefix(o, "-"):
			if n > 0 {
				return i + 1
			}
			return 0
		case o == "-c" || o == "--config-env" || o == "--exec-path" || strings.HasPrefix(o, "--config-env=") || strings.HasPrefix(o, "--exec-path="):
			n++
			if o == "-c" || o == "--config-env" {
				i++
			}
		case o == "-C" || o == "--git-dir" || o == "--work-tree" || o == "--namespace":
			i++
		}
	}
	if n > 0 {
		return len(args)
	}
	return 0
}
