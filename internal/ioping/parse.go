package ioping

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Parse reads the output of one run: plain text, -B, -J, with or without -p and -I.
// A text without statistics gives a *NoResultError.
func Parse(data []byte) (Result, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "[{") || line == "[" {
			return parseJSON(data[bytes.Index(data, []byte(line)):], lines)
		}
	}
	return parseText(lines)
}

type jsonEntry struct {
	Target struct {
		Path       string  `json:"path"`
		FSType     string  `json:"fstype"`
		Device     string  `json:"device"`
		DeviceSize float64 `json:"device_size"`
	} `json:"target"`
	IO *struct {
		Request   float64 `json:"request"`
		Operation string  `json:"operation"`
		Size      float64 `json:"size"`
		Time      float64 `json:"time"`
		Ignored   bool    `json:"ignored"`
	} `json:"io"`
	Stat *jsonStat `json:"stat"`
	Load *jsonStat `json:"load"`
}

type jsonStat struct {
	Count float64 `json:"count"`
	Size  float64 `json:"size"`
	Time  float64 `json:"time"`
	IOPS  float64 `json:"iops"`
	BPS   float64 `json:"bps"`
	Min   float64 `json:"min"`
	Avg   float64 `json:"avg"`
	Max   float64 `json:"max"`
	MDev  float64 `json:"mdev"`
}

// parseJSON reads the list of -J. Its last statistics are the total; before are those of the periods. Lines is the
// whole text, for errors.
func parseJSON(data []byte, lines []string) (Result, error) {
	var r Result
	dec := json.NewDecoder(bytes.NewReader(data))
	_, err := dec.Token() // the opening bracket
	total := false
	for err == nil && dec.More() {
		var e jsonEntry
		if err = dec.Decode(&e); err != nil {
			break
		}
		r.Target, r.FSType, r.Device, r.DeviceSize = e.Target.Path, e.Target.FSType, e.Target.Device, whole(e.Target.DeviceSize)
		if io := e.IO; io != nil {
			r.Requests = append(r.Requests, Request{Index: whole(io.Request), Operation: io.Operation, Size: whole(io.Size), TimeNS: io.Time, Ignored: io.Ignored})
		}
		if s := e.Stat; s != nil {
			if total {
				r.Periods = append(r.Periods, r.Stat)
			}
			total = true
			r.Stat = Stat{whole(s.Count), whole(s.Size), s.Time, s.IOPS, s.BPS, s.Min, s.Avg, s.Max, s.MDev}
		}
		if l := e.Load; l != nil {
			r.Load = Load{whole(l.Count), whole(l.Size), l.Time, l.IOPS, l.BPS}
		}
	}
	if err == nil {
		_, err = dec.Token() // the closing bracket
	}
	if err != nil || !total {
		return Result{}, &NoResultError{Said: errorLines(lines), Truncated: true}
	}
	return r, nil
}

// Patterns of the plain format. A number is followed by its unit, if any; old versions print nan for no requests.
const num = `(-?nan|[0-9.]+)`

var (
	requestLine   = regexp.MustCompile(`(?:^|\s)` + num + ` (\w+) (<<<|>>>|from) (.+) \((.*)\): request=(\d+) time=` + num + ` (\S+)(?: \((.*)\))?$`)
	headerLine    = regexp.MustCompile(`^--- (.*) \((.*)\) ioping statistics ---$`)
	completedLine = regexp.MustCompile(`^` + num + ` ?(\w?) requests completed in ` + num + ` (\w+), (?:` + num + ` (\w+)(?: read| written)?, )?` + num + ` ?(\w?) iops, ` + num + ` (\w+)/s$`)
	generatedLine = regexp.MustCompile(`^(?:([0-9.]+) ?(\w?) too fast, )?(?:([0-9.]+) ?(\w?) too slow, )?generated ` + num + ` ?(\w?) requests in ` + num + ` (\w+), ` + num + ` (\w+), ` + num + ` ?(\w?) iops, ` + num + ` (\w+)/s$`)
	spreadLine    = regexp.MustCompile(`^min/avg/max/mdev = (.+)$`)
	rawLine       = regexp.MustCompile(`^\d+( [0-9.]+| -?nan)+$`)
)

func parseText(lines []string) (Result, error) {
	var r Result
	var raw []rawStat
	summary := false
	for _, line := range lines {
		if m := requestLine.FindStringSubmatch(line); m != nil {
			r.Requests = append(r.Requests, request(m))
			r.setTarget(m[4], m[5])
		} else if m := headerLine.FindStringSubmatch(line); m != nil {
			r.setTarget(m[1], m[2])
		} else if m := completedLine.FindStringSubmatch(line); m != nil {
			summary = true
			r.completed(m)
		} else if m := generatedLine.FindStringSubmatch(line); m != nil {
			r.generated(m)
		} else if m := spreadLine.FindStringSubmatch(line); m != nil {
			r.spread(m[1])
		} else if rawLine.MatchString(line) {
			if s, ok := parseRaw(strings.Fields(line)); ok {
				raw = append(raw, s)
			}
		}
	}
	switch {
	case summary:
		r.finish()
		r.addPeriods(raw)
	case len(raw) > 0:
		r.addRaw(raw)
	default:
		return Result{}, &NoResultError{Said: errorLines(lines), Truncated: len(r.Requests) > 0}
	}
	return r, nil
}

func request(m []string) Request {
	op := "read"
	if m[3] == ">>>" {
		op = "write"
	}
	note := m[9]
	ignored := note == "warmup" || note == "too fast" || note == "too slow" || note == "EAGAIN"
	return Request{Index: whole(number(m[6])), Operation: op, Size: whole(size(m[1], m[2])), TimeNS: span(m[7], m[8]), Ignored: ignored, Note: note}
}

// setTarget reads the words after the path: "ext4 /dev/vda 252.0 GiB", "block device 894.3 GiB", "ext4 /dev/vda".
func (r *Result) setTarget(path, words string) {
	r.Target = path
	f := strings.Fields(words)
	if n := len(f); n >= 2 {
		if _, isSize := sizeUnits[strings.ToLower(f[n-1])]; isSize {
			r.DeviceSize = whole(size(f[n-2], f[n-1]))
			f = f[:n-2]
		}
	}
	if len(f) > 0 {
		r.FSType, r.Device = f[0], strings.Join(f[1:], " ")
	}
}

func (r *Result) completed(m []string) {
	r.Count = whole(count(m[1], m[2]))
	r.TimeNS = span(m[3], m[4])
	r.Bytes = whole(size(m[5], m[6]))
	r.IOPS = count(m[7], m[8])
	r.Bandwidth = size(m[9], m[10])
}

func (r *Result) generated(m []string) {
	r.TooFast, r.TooSlow = whole(count(m[1], m[2])), whole(count(m[3], m[4]))
	r.Load = Load{whole(count(m[5], m[6])), whole(size(m[9], m[10])), span(m[7], m[8]), count(m[11], m[12]), size(m[13], m[14])}
}

// spread reads "1.2 ms / 3.4 ms / 5.6 s / 7 us", or "1.2/3.4/5.6/7.8 ms" of old versions.
func (r *Result) spread(s string) {
	parts := strings.Split(s, "/")
	if len(parts) != 4 {
		return
	}
	last := strings.Fields(parts[3])
	for i, to := range []*float64{&r.Min, &r.Avg, &r.Max, &r.MDev} {
		f := strings.Fields(parts[i])
		switch {
		case len(f) == 2:
			*to = span(f[0], f[1])
		case len(f) == 1 && len(last) == 2:
			*to = span(f[0], last[1])
		}
	}
}

// finish mends what versions before 1.0 print otherwise: without a line "generated", the time in "requests completed
// in" is wall time, and there is no number of bytes.
func (r *Result) finish() {
	if r.Load.Count > 0 {
		return
	}
	r.Load = Load{Count: r.Count, TimeNS: r.TimeNS, Bytes: r.Bytes}
	r.TimeNS = r.Avg * float64(r.Count)
	if r.Load.TimeNS > 0 {
		r.Load.IOPS = float64(r.Load.Count) * 1e9 / r.Load.TimeNS
		r.Load.Bandwidth = float64(r.Load.Bytes) * 1e9 / r.Load.TimeNS
	}
}

// errorLines returns what ioping said, else the first lines of the text.
func errorLines(lines []string) []string {
	var said []string
	for _, line := range lines {
		if strings.HasPrefix(line, "ioping: ") {
			said = append(said, line)
		}
	}
	if said == nil {
		said = lines[:min(len(lines), 2)]
	}
	return said
}

var sizeUnits = map[string]float64{
	"b": 1, "bytes": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "pib": 1 << 50,
	// Old versions write kb and mean 1,024.
	"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
}

var timeUnits = map[string]float64{
	"ns": 1, "nsec": 1, "us": 1e3, "usec": 1e3, "ms": 1e6, "msec": 1e6, "s": 1e9, "sec": 1e9, "min": 60e9, "m": 60e9, "hour": 3600e9, "h": 3600e9,
}

var countUnits = map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18}

func size(n, unit string) float64  { return number(n) * sizeUnits[strings.ToLower(unit)] }
func span(n, unit string) float64  { return number(n) * timeUnits[strings.ToLower(unit)] }
func count(n, unit string) float64 { return number(n) * countUnits[strings.ToLower(unit)] }

// number reads a number; an empty or odd one, and nan, are 0.
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// whole rounds to a count; what cannot be one is 0 or the largest.
func whole(f float64) int64 {
	switch {
	case !(f > 0):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(math.Round(f))
}
