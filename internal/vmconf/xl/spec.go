package xl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// param is one parameter of a disk, wherever it stands: positional, named, a flag or an old prefix.
type param struct {
	name       string // "target", "format", "vdev", "access", "devtype", ..., or the flag
	value      string
	start, end int // of the parameter in the text, without the comma after it
	from, to   int // of its value
	named      bool
}

// spec is the specification of one disk (xl-disk-configuration(5)).
type spec struct {
	text     string
	params   []param
	old      bool     // it has a prefix of xm's, after which no format is expected among the positional parameters
	problems []string // why xl refuses it
}

// maxParams bounds the parameters of one disk.
const maxParams = 100

var (
	oldPrefix   = regexp.MustCompile(`^(raw|qcow2?|vhd|iscsi|e?nbd|drbd|tapdisk|tap2?|aio|ioemu|file|phy):`)
	otherPrefix = regexp.MustCompile(`^([a-z][a-z0-9]*):(?:$|[^a-z0-9])`)
	vdevName    = regexp.MustCompile(`^(?:(hd|sd|xvd)([a-z]+)([0-9]*)|d[0-9]+p[0-9]+)$`)

	named = []string{
		"format", "devtype", "access", "backend", "backendtype", "specification", "vdev", "script", "grant_usage",
		"colo-host", "colo-port", "colo-export", "active-disk", "hidden-disk",
	}
	flags = []string{"cdrom", "direct-io-safe", "discard", "no-discard", "colo", "no-colo", "trusted", "untrusted"}

	// allowed are the values of parameters that have only some.
	allowed = map[string][]string{
		"format":        {"", "raw", "qcow", "qcow2", "vhd", "empty", "qed"},
		"devtype":       {"cdrom", "disk"},
		"access":        {"", "r", "ro", "w", "rw"},
		"backendtype":   {"phy", "qdisk", "tap", "standalone"},
		"specification": {"xen", "virtio"},
		"grant_usage":   {"0", "1"},
	}
)

// parseSpec reads the specification of a disk as xl does. What xl would refuse is in problems; the rest is read all the
// same.
func parseSpec(text string) spec {
	s := spec{text: text}
	for pos := 0; pos < len(text); {
		rest := text[pos:]
		if len(s.params)+len(s.problems) > maxParams {
			s.problem("more parameters than any disk has")
			break
		}
		switch m := otherPrefix.FindStringSubmatch(rest); {
		case strings.ContainsRune(" \t\n", rune(rest[0])):
			pos++
		case strings.HasPrefix(rest, "target="): // has the rest to itself, commas and all
			from, to := pos+len("target="), pos+len(strings.TrimSuffix(rest, ","))
			s.add(param{name: "target", value: text[from:to], start: pos, end: len(text), from: from, to: to, named: true})
			pos = len(text)
		case oldPrefix.MatchString(rest):
			pos += s.prefix(oldPrefix.FindStringSubmatch(rest)[1], pos)
		case m != nil:
			s.problem("unknown prefix %s:", m[1])
			s.old = true
			pos += len(m[1]) + 1
		default:
			word, _, comma := strings.Cut(rest, ",")
			s.word(word, pos)
			if pos += len(word); comma {
				pos++
			}
		}
	}
	s.check()
	return s
}

// prefix takes one of xm's prefixes without its colon, and returns its length with it.
func (s *spec) prefix(name string, pos int) int {
	s.old = true
	p := param{value: name, start: pos, end: pos + len(name) + 1, from: pos, to: pos + len(name)}
	switch name {
	case "raw", "qcow", "qcow2", "vhd":
		p.name = "format"
		s.add(p)
	case "iscsi", "nbd", "enbd", "drbd":
		p.name, p.value = "script", "block-"+name
		s.add(p)
	}
	return len(name) + 1
}

// word takes what stands between two commas.
func (s *spec) word(word string, pos int) {
	p := param{value: word, start: pos, end: pos + len(word), from: pos, to: pos + len(word)}
	key, value, has := strings.Cut(word, "=")
	switch {
	case has && slices.Contains(named, key):
		p.name, p.value, p.from, p.named = key, value, pos+len(key)+1, true
		s.add(p)
	case slices.Contains(flags, word):
		p.name, p.value, p.named = word, "", true
		s.add(p)
	case !has:
		s.positional(p)
	default:
		s.problem("unknown parameter %q", word)
		if _, ok := s.get("target"); !ok && strings.HasPrefix(word, "/") { // a path with = in it
			p.name = "target"
			s.add(p)
		}
	}
}

// positional takes a parameter for the first place that is free.
func (s *spec) positional(p param) {
	target, hasTarget := s.get("target")
	_, hasFormat := s.get("format")
	_, hasVDev := s.get("vdev")
	positionalAccess := slices.ContainsFunc(s.params, func(o param) bool { return o.name == "access" && !o.named })
	switch {
	case !hasTarget:
		p.name = "target"
	case !s.old && !hasFormat:
		if target.value == "" && strings.Contains(p.value, ":") { // ",hdc:cdrom,r"
			s.add(param{name: "format", value: "empty", start: p.start, end: p.start, from: p.start, to: p.start})
			s.vdev(p)
			return
		}
		p.name = "format"
		if !slices.Contains(allowed["format"], p.value) && vdevName.MatchString(p.value) {
			s.problem("the format is missing before %s", p.value)
			p.name, s.old = "vdev", true
		}
	case !hasVDev:
		s.vdev(p)
		return
	case !positionalAccess:
		p.name = "access"
	default:
		s.problem("too many positional parameters: %q", p.value)
		return
	}
	s.add(p)
}

// vdev takes a virtual device, with xm's ":cdrom" after it.
func (s *spec) vdev(p param) {
	p.name = "vdev"
	if i := strings.LastIndexByte(p.value, ':'); i >= 0 {
		kind := p
		kind.name, kind.value, kind.from = "devtype", p.value[i+1:], p.from+i+1
		s.add(kind)
		p.value, p.to = p.value[:i], p.from+i
	}
	s.add(p)
}

func (s *spec) add(p param) {
	if values, ok := allowed[p.name]; ok && !slices.Contains(values, p.value) {
		s.problem("unknown %s %q", p.name, p.value)
	}
	if old, ok := s.get(p.name); ok && old.value != "" && old.value != p.value && !slices.Contains([]string{"access", "devtype"}, p.name) {
		s.problem("%s is there twice", p.name)
	}
	s.params = append(s.params, p)
}

// get returns a parameter. Of several the first one that is not empty counts, but of access and devtype the last one.
func (s *spec) get(name string) (found param, ok bool) {
	for _, p := range s.params {
		if p.name == name && (!ok || found.value == "" || name == "access" || name == "devtype") {
			found, ok = p, true
		}
	}
	return found, ok
}

// of is the value of a parameter, "" where it is not given.
func (s *spec) of(name string) string {
	p, _ := s.get(name)
	return p.value
}

func (s *spec) has(flag string) bool {
	_, ok := s.get(flag)
	return ok
}

func (s *spec) cdrom() bool { return s.of("devtype") == "cdrom" || s.has("cdrom") }

// check looks for what every disk must have.
func (s *spec) check() {
	if s.of("vdev") == "" {
		s.problem("no vdev is given")
	}
	if s.of("target") == "" && !s.cdrom() {
		s.problem("no target is given")
	}
}

func (s *spec) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}
