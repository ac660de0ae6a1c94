package iometer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/golden"
)

const ms = time.Millisecond

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestParse(t *testing.T) {
	want := []AccessSpec{
		{
			Name: "OLTP; 70% Read, paced", Assignment: "ALL", Outstanding: []int{32},
			Lines: []Line{
				{Size: 8192, Share: 90, Reads: 70, Random: 100, Delay: 5 * ms, Burst: 4, Align: 8192},
				{Size: 65536, Share: 10, Reads: 100, Delay: 5 * ms, Burst: 4},
			},
		},
		{
			Name: "Log", Assignment: "DISK", Outstanding: []int{1, 32},
			Lines: []Line{{Size: 4096, Share: 100, Burst: 1, Reply: 512}},
		},
	}
	text := string(read(t, "testdata/database.icf"))
	for name, variant := range map[string]string{
		"LF":        text,
		"CRLF":      strings.ReplaceAll(text, "\n", "\r\n"),
		"BOM":       "\xef\xbb\xbf" + text,
		"any case":  strings.ReplaceAll(strings.ToUpper(text), "OLTP; 70% READ, PACED", "OLTP; 70% Read, paced"),
		"margins":   strings.ReplaceAll(text, "\n", "  \n"),
		"no tabs":   strings.ReplaceAll(text, "\t", ""),
		"commas":    strings.ReplaceAll(text, ",0\n", ",0,\n"),
		"numbers":   strings.NewReplacer(",ALL\n", ",1\n", ",DISK\n", ",2\n").Replace(text),
		"ends soon": strings.TrimRight(text, "\n"),
		"twice":     text + text,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("database.icf", []byte(variant))
			if err != nil {
				t.Fatal(err)
			}
			if name == "any case" {
				got[1].Name = "Log"
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestParseLatin1(t *testing.T) {
	got, err := Parse("x.icf", []byte("'ACCESS SPECIFICATIONS ==\n'Access specification name,default assignment\n\tGem\xe4\xdf,NONE\n"+
		"'size,% of size,% reads,% random,delay,burst,align,reply\n\t512,100,0,0,0,1,0,0\n'END access specifications\n"))
	if err != nil || got[0].Name != "Gemäß" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFaults(t *testing.T) {
	_, err := Parse("faults.icf", read(t, "testdata/faults.icf"))
	var list errkind.List
	if !errors.As(err, &list) || errkind.CodeOf(err) != errkind.Usage {
		t.Fatalf("got %v, want a list of usage faults", err)
	}
	golden.Equal(t, "testdata/faults.txt", err.Error()+"\n")
}

func TestFaultsOfTheWhole(t *testing.T) {
	const head = "'ACCESS SPECIFICATIONS ====\n"
	tests := map[string]struct{ in, want string }{
		"empty":       {"", "x.icf:1:1  the file has no section ACCESS SPECIFICATIONS; expected an Iometer configuration"},
		"other file":  {"hello\n", "x.icf:1:1  the file has no section ACCESS SPECIFICATIONS; expected an Iometer configuration"},
		"typo":        {"Version 1.1.0\n  'ACESS SPECIFICATIONS =====\n", `x.icf:2:4  unknown section "ACESS SPECIFICATIONS"; did you mean "ACCESS SPECIFICATIONS"?`},
		"no specs":    {head + "'END access specifications\n", "x.icf:1:1  the section ACCESS SPECIFICATIONS is empty; expected at least one access specification"},
		"cut off":     {head, `x.icf:1:1  the file ends within the section ACCESS SPECIFICATIONS; expected the line "'END access specifications"`},
		"no end":      {head + "\n" + head + "'END access specifications\n", "x.icf:3:1  the section ACCESS SPECIFICATIONS has no end"},
		"UTF-16":      {"\xff\xfeV\x00", "x.icf: the file is not plain text; save it as UTF-8 or ANSI, as Iometer does"},
		"large":       {strings.Repeat("\n", maxFile+1), "x.icf: the file has 1048577 bytes; an Iometer configuration has at most 1 MiB"},
		"no number":   {head + "'Access specification name,default assignment\n,NONE\n", "x.icf:3:1  the access specification has no name"},
		"a long name": {head + strings.Repeat("x", 99) + "\n", `x.icf:2:1  "` + strings.Repeat("x", 60) + `..." is out of place`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			specs, err := Parse("x.icf", []byte(tt.in))
			if err == nil {
				t.Fatalf("got %+v and no error", specs)
			}
			first, _, _ := strings.Cut(err.Error(), "\n")
			if !strings.HasPrefix(first, tt.want) {
				t.Errorf("got  %s\nwant %s", first, tt.want)
			}
		})
	}
	_, err := Parse("x.icf", []byte(head+strings.Repeat("y\n", 200)))
	if lines := strings.Split(err.Error(), "\n"); len(lines) != maxFaults+1 || !strings.Contains(lines[maxFaults], "further faults") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// Every real file must read, become loads, and have what is known of it.
func TestParseRealFiles(t *testing.T) {
	dir := os.Getenv("IOTAX_TESTDATA")
	if dir == "" {
		t.Skip("IOTAX_TESTDATA is not set: no collection of real files here")
	}
	files, err := filepath.Glob(filepath.Join(dir, "iometer-icf", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s/iometer-icf: %v", dir, err)
	}
	allInOne := 0
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			specs, err := Parse(path, read(t, path))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range specs {
				if _, err := s.Load(); err != nil {
					t.Error(err)
				}
				switch s.Name {
				case "All in one":
					allInOne++
					if d := cmp.Diff(AllInOne110().Lines, s.Lines); d != "" {
						t.Errorf("-built in +read:\n%s", d)
					}
				case "4 KiB; 50% Read; 100% random":
					if l := s.Lines[0]; len(s.Lines) != 1 || l.Size != 4096 || l.Reads != 50 || l.Random != 100 {
						t.Errorf("%+v", s)
					}
				}
			}
			if filepath.Base(path) == "gui_tests__golden_builtin_specs.txt" {
				if d := cmp.Diff(Default(), specs[0]); len(specs) != 31 || d != "" {
					t.Errorf("%d specifications, the first -built in +read:\n%s", len(specs), d)
				}
			}
		})
	}
	if allInOne < 4 {
		t.Errorf("All in one stands in %d files", allInOne)
	}
}

func TestSlugs(t *testing.T) {
	for name, want := range map[string]string{
		"4 KiB aligned; 50% Read; 0% random": "4-kib-aligned-50-read-0-random", "All in one": "all-in-one", "SAS_2K": "sas_2k",
		"...": "iometer", "Ü": "iometer", "": "iometer", "-x.": "x", "v1.1": "v1.1",
	} {
		if got := Slug(name); got != want {
			t.Errorf("Slug(%q) = %q, want %q", name, got, want)
		}
	}
	got := Slugs([]AccessSpec{{Name: "a b"}, {Name: "a-b"}, {Name: "A B 2"}, {Name: "a;b"}})
	if d := cmp.Diff([]string{"a-b", "a-b-2", "a-b-2-2", "a-b-3"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
