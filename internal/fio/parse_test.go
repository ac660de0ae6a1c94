package fio

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iotax/iotax/internal/hist"
)

const small = `{
  "fio version" : "fio-3.33",
  "jobs" : [ { "jobname" : "a", "error" : 0, "read" : {
    "io_bytes" : 4096, "io_kbytes" : 4, "bw_bytes" : 2048, "bw" : 2, "iops" : 0.5, "runtime" : 2000, "total_ios" : 1,
    "clat_ns" : { "min" : 7, "max" : 7, "mean" : 7.0, "stddev" : 0.0, "N" : 1, "percentile" : { "99.900000" : 7 }, "bins" : { "7" : 1 } }
  } } ]
}
`

func smallResult() Output {
	d := Direction{IOBytes: 4096, Bandwidth: 2048, IOPS: 0.5, Runtime: 2e9, TotalIOs: 1, Clat: Latency{
		Min: 7, Max: 7, Mean: 7, N: 1, Percentiles: map[float64]float64{0.999: 7}, Bins: []hist.Bin{{NS: 7, Count: 1}},
	}}
	return Output{Version: "fio-3.33", Jobs: []JobResult{{Name: "a", Read: d, Runtime: 2e9}}}
}

func TestParseSurroundings(t *testing.T) {
	clients := strings.Replace(small, `"jobs"`, `"client_stats"`, 1)
	cut := small[:len(small)/2]
	severalNote := func(n, of string) string {
		return "iotax: " + of + " JSON documents (status-interval, or several runs); this is number " + n
	}
	const cutNote = "iotax: the output is truncated; this is the last complete JSON document"
	tests := map[string]struct {
		in    string
		notes []string
	}{
		"alone":                       {small, nil},
		"one line":                    {strings.ReplaceAll(small, "\n", " "), nil},
		"carriage returns":            {strings.ReplaceAll(small, "\n", "\r\n"), nil},
		"byte order mark":             {"\ufeff" + small, nil},
		"blank lines":                 {"\n\n" + small + "\n\n", nil},
		"client statistics":           {clients, nil},
		"note before":                 {"note: both\n" + small, []string{"note: both"}},
		"same note twice":             {"note: both\nnote: both\n" + small, []string{"note: both"}},
		"error after":                 {small + "fio: file hash not empty on exit\n", []string{"fio: file hash not empty on exit"}},
		"on the line of a note":       {"fio: terminating on signal 2" + small, []string{"fio: terminating on signal 2"}},
		"progress overwritten":        {"Jobs: 1 (f=1)\rfio: oops\r" + small, []string{"fio: oops"}},
		"normal format is no note":    {"a: (g=0): rw=read\nStarting 1 process\n" + small + "a: (groupid=0, jobs=1): err= 0: pid=1: now\n", nil},
		"a brace in a note":           {"fio: bad {value}\n" + small, []string{"fio: bad {value}"}},
		"other JSON before":           {`{"level":"info"}` + "\n" + small, []string{severalNote("2", "2")}},
		"a brace that never closes":   {"{\nfio: odd\n" + small, []string{"fio: odd"}},
		"two documents":               {strings.Replace(small, `"a"`, `"first"`, 1) + small, []string{severalNote("2", "2")}},
		"cut document after":          {small + cut, []string{cutNote}},
		"cut document before":         {cut + "\n" + small, []string{cutNote}},
		"cut in a string before":      {cut[:strings.Index(cut, "io_by")] + "\n" + small, []string{cutNote}},
		"nan":                         {strings.Replace(small, "0.0", "-nan", 1), nil},
		"infinity":                    {strings.Replace(small, "0.0", "inf", 1), nil},
		"tab in a string":             {strings.Replace(small, `"error"`, "\"desc\" : \"a\tb\", \"error\"", 1), nil},
		"escaped quote and brace":     {strings.Replace(small, `"error"`, `"desc" : "a\"}{\\", "error"`, 1), nil},
		"options of several types":    {strings.Replace(small, `"jobs"`, `"global options" : [], "jobs"`, 1), nil},
		"percentile slots not in use": {strings.Replace(small, `{ "99.9`, `{ "0.00" : 0, "0.00" : 0, "99.9`, 1), nil},
		"bins out of order, twice":    {strings.Replace(small, `{ "7" : 1 }`, `{ "9" : 0, "7" : 1, "3" : 0 }`, 1), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := smallResult()
			want.Notes = tt.notes
			got, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestParseNoResult(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"empty":           {"", "fio gave no result: its output is empty"},
		"blank":           {" \n\n", "fio gave no result: its output is empty"},
		"error line":      {"fio: io_u error on file x: Invalid argument: read offset=0\n", "fio gave no result: fio: io_u error on file x: Invalid argument: read offset=0"},
		"many errors":     {"fio: a\nfio: b\nfio: c\nfio: d\nfio: e\n", "fio gave no result: fio: a; fio: b; fio: c; and 2 more lines"},
		"other program":   {"bash: fio: command not found\n", "fio gave no result: bash: fio: command not found"},
		"normal format":   {"x: (groupid=0, jobs=1): err= 0: pid=1\n\nRun status group 0 (all jobs):\n", "fio gave no result: this is fio's normal format; run it with --output-format=json+"},
		"truncated":       {small[:len(small)-3], "fio's output is truncated: its JSON does not end"},
		"truncated, said": {"fio: killed\n" + small[:60], "fio's output is truncated: its JSON does not end: fio: killed"},
		"no jobs":         {`{ "fio version" : "fio-3.33", "jobs" : [] }`, "fio gave no result: its output is empty"},
		"other JSON":      {"{\"a\": 1}\nfio: x", "fio gave no result: fio: x"},
		"malformed":       {`{ "fio version" : "fio-3.33", "jobs" : [,] }`, "fio's JSON cannot be read: byte 41 of the document: invalid character ',' looking for beginning of value"},
		"terse cut short": {"3;fio-3.33;terse;0;0;67320;67252", "fio gave no result: 3;fio-3.33;terse;0;0;67320;67252"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := Parse([]byte(tt.in))
			var none *NoResultError
			if !errors.As(err, &none) {
				t.Fatalf("got %+v and error %v, want a NoResultError", out, err)
			}
			if none.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", none, tt.want)
			}
		})
	}
}

func TestParseOddTypes(t *testing.T) {
	out, err := Parse([]byte(strings.Replace(small, `"error" : 0`, `"error" : "none"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if out.Jobs[0].Read.IOBytes != 4096 || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "unexpected type") {
		t.Errorf("got %+v, want the rest of the result and a note", out)
	}
}

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		global, own string
		want        map[string]string
	}{
		"none":            {`null`, `{}`, nil},
		"own win":         {`{"bs":"8k","rw":"read"}`, `{"bs":"4k"}`, map[string]string{"bs": "4k", "rw": "read"}},
		"list of objects": {`[{"bs":"8k"},{"rw":"read"}]`, `{}`, map[string]string{"bs": "8k", "rw": "read"}},
		"empty list":      {`[]`, `{"bs":"4k"}`, map[string]string{"bs": "4k"}},
		"not strings":     {`{"bs":4096,"direct":true,"x":null}`, `{}`, map[string]string{"bs": "4096", "direct": "true", "x": ""}},
		"several files":   {`{}`, `{"filename":"a","filename":"b"}`, map[string]string{"filename": "a:b"}},
		"no options":      {`"x"`, `7`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			doc := `{"fio version":"x","global options":` + tt.global + `,"jobs":[{"job options":` + tt.own + `}]}`
			out, err := Parse([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, out.Jobs[0].Options); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// fio's own percentiles of a json+ file must come out of its bins again, to the nanosecond.
func TestPercentilesFromBins(t *testing.T) {
	data, err := os.ReadFile("testdata/output/jsonplus-two-jobs.json")
	if err != nil {
		t.Fatal(err)
	}
	out, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range out.Jobs {
		checkPercentiles(t, j.Read.Clat)
		checkPercentiles(t, j.Write.Clat)
	}
}

// checkPercentiles compares fio's percentiles with those of the bins. fio clamps nothing, so they are equal.
func checkPercentiles(t *testing.T, l Latency) {
	t.Helper()
	if len(l.Bins) == 0 || len(l.Percentiles) == 0 {
		t.Fatal("no bins or no percentiles")
	}
	if n := hist.Count(l.Bins); int64(n) != l.N {
		t.Errorf("bins hold %d samples, fio counted %d", n, l.N)
	}
	for p, want := range l.Percentiles {
		if got, _ := hist.Percentile(l.Bins, p); float64(got) != want {
			t.Errorf("percentile %v is %d from bins, %v from fio", p, got, want)
		}
	}
}

func TestBucketValue(t *testing.T) {
	// Middles of fio's buckets: exact below 128, then 64 buckets to each power of two.
	for index, want := range map[uint64]uint64{0: 0, 127: 127, 128: 129, 129: 131, 191: 255, 192: 258, 319: 1020, 320: 1032} {
		if got := bucketValue(index, 6); got != want {
			t.Errorf("bucket %d is %d, want %d", index, got, want)
		}
	}
	if got := bucketValue(1<<60, 6); got == 0 {
		t.Error("a bucket beyond all has the value 0")
	}
}

func TestMeanDepth(t *testing.T) {
	tests := map[string]struct {
		levels map[string]float64
		asked  int
		want   float64
	}{
		"none":            {nil, 8, 0},
		"always one":      {map[string]float64{"1": 1}, 1, 1},
		"full 32":         {map[string]float64{"32": 1}, 32, 32},
		"half of 32":      {map[string]float64{"16": 1}, 32, 23.5},
		"full 24":         {map[string]float64{"16": 1}, 24, 24},
		"full 256":        {map[string]float64{">=64": 1}, 256, 256},
		"mixed":           {map[string]float64{"1": 0.5, "4": 0.5}, 4, 2.5},
		"syncs count too": {map[string]float64{"1": 2}, 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (JobResult{DepthLevels: tt.levels}).MeanDepth(tt.asked); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestInFlightAndCPU(t *testing.T) {
	j := JobResult{
		Runtime: 1e9, ThreadTime: 4e9, UserCPU: 0.1, SystemCPU: 0.15,
		Read: Direction{IOPS: 30000, Lat: Latency{Mean: 1e6}}, Write: Direction{IOPS: 1000, Lat: Latency{Mean: 2e6}},
	}
	if got := j.InFlight(); got != 32 {
		t.Errorf("InFlight = %v, want 32", got)
	}
	if got := j.CPU(); got != 1 {
		t.Errorf("CPU = %v, want 1 of four threads at a quarter", got)
	}
}
