package libvirt_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/libvirt"
)

var fixtures = []string{"desk.xml", "server.xml", "running.xml", "snapshot.xml", "stream.txt"}

func fixture(t testing.TB, name string) *libvirt.Document {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := libvirt.Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestParse(t *testing.T) {
	for _, name := range fixtures {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(fixture(t, name).VMs(), "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, filepath.Join("testdata", name+".json"), string(got)+"\n")
		})
	}
}

func TestParseFaults(t *testing.T) {
	bomb := `<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>`
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "x: no domain of libvirt in it"},
		{"other XML", "<network><name>n</name><domain name='example.org'/></network>", "x: no domain of libvirt in it"},
		{"capabilities", "<capabilities><guest><arch><domain type='kvm'/></arch></guest></capabilities>", "x: no domain of libvirt in it"},
		{"commented out", "<!-- <domain><name>n</name></domain> -->", "x: no domain of libvirt in it"},
		{"cut off", "<domain>\n<name>n</name>\n", "x:3: the XML ends in the middle of an element"},
		{"crossed", "<domain>\n<name>n</os>\n</domain>", "x:2: not XML: element <name> closed by </os>"},
		{"comment", "<domain/>\n<!-- ", "x:2: a comment that does not end"},
		{"instruction", "<?xml ", "x:1: a processing instruction that does not end"},
		{"twice", "<domain>\n<os a='1' a='2'/></domain>", "x:2: attribute a stands twice in <os>"},
		{"bomb", bomb + "\n<domain><name>&b;</name></domain>", "x:1: a document type with declarations, which no configuration of libvirt has\n" +
			"x:2: not XML: invalid character entity &b;"},
		{"NUL", "<domain>\n<name>a\x00b</name></domain>", "x:2: not XML: illegal character code U+0000"},
		{
			"Latin-1", "<?xml version='1.0' encoding='ISO-8859-1'?>\n<domain><name>\xe4</name></domain>",
			"x:1: encoding ISO-8859-1: only UTF-8 is read (iconv converts it)\nx:2: not XML: invalid UTF-8",
		},
		{"UTF-16", "\xff\xfe<\x00d\x00", "x: UTF-16; only UTF-8 is read: iconv -f UTF-16 -t UTF-8 converts it"},
		{"deep", "<domain>\n" + strings.Repeat("<a>", vmconf.MaxDepth), "x:2: too many elements, or too deep in each other, for a configuration"},
		{"wide", "<domain>" + strings.Repeat("<a/>", 300_000), "x:1: too many elements, or too deep in each other, for a configuration"},
		{"long tag", "<domain " + manyAttributes(300) + "/>", "x:1: 300 attributes in one element"},
		{"two of three", "<domain><</domain>\n<domain/>\n<domain", "x:1: not XML: expected element name after <\n" +
			"x:3: the XML ends in the middle of an element"},
		{"too big", strings.Repeat("<domain/>", vmconf.MaxBytes/9+1), "x: 16777224 bytes are no configuration; at most 16 MiB are read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := libvirt.Parse("x", []byte(c.in))
			if err == nil || err.Error() != c.want || errkind.CodeOf(err) != errkind.Usage {
				t.Errorf("got %v (code %v)\nwant %s", err, errkind.CodeOf(err), c.want)
			}
		})
	}
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" a" + strings.Repeat("x", i) + "=''")
	}
	return b.String()
}

// TestBounded reads what is made to take long or much.
func TestBounded(t *testing.T) {
	for name, in := range map[string]string{
		"garbage":  strings.Repeat("\x00<&;]]>", vmconf.MaxBytes/8),
		"starts":   strings.Repeat("<domain ", vmconf.MaxBytes/8),
		"comments": "<domain><name>" + strings.Repeat("a<!---->", vmconf.MaxBytes/8-10) + "</name></domain>",
		"opened":   strings.Repeat("<domain><a>", vmconf.MaxBytes/11),
		"values":   "<domain " + strings.Repeat(" a=''", vmconf.MaxBytes/5-4) + "/>",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			doc, err := libvirt.Parse("x", []byte(in))
			runtime.ReadMemStats(&after)
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 2048 {
				t.Errorf("%d MiB were allocated", used)
			}
			if err != nil && len(err.Error()) > 4096 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
			if err == nil && string(doc.Bytes()) != in {
				t.Error("the bytes were not kept")
			}
		})
	}
}
