package libvirt

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/iotax/iotax/internal/vmconf"
)

// Elements that a document of libvirt with a domain in it begins with.
var beginning = regexp.MustCompile(`<(domain|domstatus|domainsnapshot|domaincheckpoint)[\s>/]`)

var (
	prolog   = regexp.MustCompile(`^<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']`)
	nameHead = regexp.MustCompile(`^<[A-Za-z_]`)
)

// stream is what stands one after the other in a file: virt-install prints a document for the installation and one for
// afterwards, and what it has to say between them.
type stream struct {
	data    []byte
	roots   []*element
	loose   []*span // text outside of every document
	faults  []*badXML
	foreign []*badXML // encodings that are declared, of what is ASCII
	count   int       // elements
	ascii   bool      // every byte is
}

type span struct{ start, end int }

// maxFaults are enough to know that a file is something else.
const maxFaults = 20

// documents reads every document of data. After a fault it goes on with the next document that begins.
func documents(data []byte) *stream {
	s := &stream{data: data, ascii: isASCII(data)}
	at := 0
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		at = 3
	}
	for at < len(data) && len(s.faults) < maxFaults {
		rest := data[at:]
		switch {
		case blank(rest[0]):
			at++
		case bytes.HasPrefix(rest, []byte("<!--")):
			at = s.past(at, "-->", "a comment that does not end")
		case bytes.HasPrefix(rest, []byte("<?")):
			s.encoding(at)
			at = s.past(at, "?>", "a processing instruction that does not end")
		case bytes.HasPrefix(rest, []byte("<!DOCTYPE")):
			at = s.doctype(at)
		case nameHead.Match(rest):
			at = s.document(at)
		default:
			at = s.text(at)
		}
	}
	return s
}

func isASCII(data []byte) bool {
	return !slices.ContainsFunc(data, func(c byte) bool { return c >= utf8.RuneSelf })
}

func (s *stream) fault(at int, why string) { s.faults = append(s.faults, &badXML{at, why}) }

func (s *stream) past(at int, end, fault string) int {
	if i := bytes.Index(s.data[at:], []byte(end)); i >= 0 {
		return at + i + len(end)
	}
	s.fault(at, fault)
	return len(s.data)
}

// encoding refuses what is declared to be something else than UTF-8, unless it is ASCII all the same.
func (s *stream) encoding(at int) {
	if m := prolog.FindSubmatch(s.data[at:min(at+1024, len(s.data))]); m != nil {
		name := strings.ToLower(string(m[1]))
		why := "encoding " + string(m[1]) + ": only UTF-8 is read (iconv converts it)"
		switch {
		case name == "utf-8" || name == "utf8":
		case s.ascii:
			s.foreign = append(s.foreign, &badXML{at, why})
		default:
			s.fault(at, why)
		}
	}
}

// doctype goes past a document type without declarations of its own; libvirt writes none at all.
func (s *stream) doctype(at int) int {
	end := bytes.IndexAny(s.data[at:], ">[")
	if end < 0 || s.data[at+end] == '[' {
		s.fault(at, "a document type with declarations, which no configuration of libvirt has")
		return s.next(at + 1)
	}
	return at + end + 1
}

// document reads one element and returns where the next thing begins.
func (s *stream) document(at int) int {
	root, err := parse(s.data, at, &s.count, room{min(maxElements, maxAll-s.count), vmconf.MaxDepth})
	if err != nil {
		bad := err.(*badXML) //nolint:errorlint // parse returns no other
		s.faults = append(s.faults, bad)
		return s.next(max(bad.at, at+1))
	}
	s.roots = append(s.roots, root)
	return root.end
}

// text goes past what is no XML, to the next document of libvirt.
func (s *stream) text(at int) int {
	end := s.next(at)
	s.loose = append(s.loose, &span{at, at + len(bytes.TrimRight(s.data[at:end], " \t\r\n"))})
	return end
}

// next is where the next document of libvirt begins at or after an offset, or the end.
func (s *stream) next(at int) int {
	if loc := beginning.FindIndex(s.data[at:]); loc != nil {
		return at + loc[0]
	}
	return len(s.data)
}
