package fio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// document is fio's JSON as it is printed. 3.x names latencies *_ns; 2.x has no suffix and means microseconds.
type document struct {
	Version  string        `json:"fio version"`
	Global   options       `json:"global options"`
	Jobs     []rawJob      `json:"jobs"`
	Clients  []rawJob      `json:"client_stats"`
	DiskUtil []rawDiskUtil `json:"disk_util"`
}

type rawJob struct {
	Name       string             `json:"jobname"`
	Group      float64            `json:"groupid"`
	Host       string             `json:"hostname"`
	Error      float64            `json:"error"`
	TotalErr   float64            `json:"total_err"`
	Options    options            `json:"job options"`
	Read       rawDirection       `json:"read"`
	Write      rawDirection       `json:"write"`
	Trim       rawDirection       `json:"trim"`
	Mixed      rawDirection       `json:"mixed"`
	Sync       rawDirection       `json:"sync"`
	ThreadTime float64            `json:"job_runtime"`
	UserCPU    float64            `json:"usr_cpu"`
	SystemCPU  float64            `json:"sys_cpu"`
	Ctx        float64            `json:"ctx"`
	Depth      map[string]float64 `json:"iodepth_level"`
	Steady     *rawSteadystate    `json:"steadystate"`
}

type rawDirection struct {
	IOBytes  float64    `json:"io_bytes"`
	IOKBytes *float64   `json:"io_kbytes"`
	BWBytes  *float64   `json:"bw_bytes"`
	BW       float64    `json:"bw"`
	IOPS     float64    `json:"iops"`
	Runtime  float64    `json:"runtime"`
	TotalIOs float64    `json:"total_ios"`
	ShortIOs float64    `json:"short_ios"`
	DropIOs  float64    `json:"drop_ios"`
	SlatNS   rawLatency `json:"slat_ns"`
	ClatNS   rawLatency `json:"clat_ns"`
	LatNS    rawLatency `json:"lat_ns"`
	SlatUS   rawLatency `json:"slat"`
	ClatUS   rawLatency `json:"clat"`
	LatUS    rawLatency `json:"lat"`
}

type rawLatency struct {
	Min         float64     `json:"min"`
	Max         float64     `json:"max"`
	Mean        float64     `json:"mean"`
	StdDev      float64     `json:"stddev"`
	N           *float64    `json:"N"`
	Percentiles percentiles `json:"percentile"`
	Bins        bins        `json:"bins"`
}

type rawDiskUtil struct {
	Name         string  `json:"name"`
	ReadIOs      float64 `json:"read_ios"`
	WriteIOs     float64 `json:"write_ios"`
	ReadSectors  float64 `json:"read_sectors"`
	WriteSectors float64 `json:"write_sectors"`
	ReadMerges   float64 `json:"read_merges"`
	WriteMerges  float64 `json:"write_merges"`
	Util         float64 `json:"util"`
}

type rawSteadystate struct {
	Rule     string  `json:"ss"`
	Duration float64 `json:"duration"` // seconds
	Attained float64 `json:"attained"`
}

// decode reads one complete document. It returns false for JSON that is not a result of fio.
func decode(doc []byte) (Output, bool, error) {
	var d document
	err := json.Unmarshal(doc, &d)
	if _, syntax := errors.AsType[*json.SyntaxError](err); syntax {
		d = document{}
		err = json.Unmarshal(mend(doc), &d)
	}
	var notes []string
	if odd, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		notes = append(notes, fmt.Sprintf("iotax: a field has an unexpected type and is taken as 0: %v", odd))
		err = nil
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		err = fmt.Errorf("byte %d of the document: %w", syntax.Offset, err)
	}
	if err != nil || len(d.Jobs)+len(d.Clients) == 0 {
		return Output{}, false, err
	}
	out := Output{Version: d.Version, Notes: notes}
	for _, r := range slices.Concat(d.Jobs, d.Clients) {
		out.Jobs = append(out.Jobs, r.result(d.Global))
	}
	out.splitAllClients(len(d.Clients))
	for _, u := range d.DiskUtil {
		out.DiskUtil = append(out.DiskUtil, u.result())
	}
	return out, true, nil
}

// splitAllClients takes fio's own sum out of Jobs, so that summing over Jobs counts nothing twice.
func (o *Output) splitAllClients(clients int) {
	last := len(o.Jobs) - 1
	if clients > 1 && o.Jobs[last].Name == "All clients" {
		all := o.Jobs[last]
		o.AllClients, o.Jobs = &all, o.Jobs[:last]
	}
}

func (r rawJob) result(global options) JobResult {
	j := JobResult{
		Name: r.Name, Group: int(whole(r.Group)), Host: r.Host,
		Error: int(whole(r.Error)), IOErrors: whole(r.TotalErr),
		Options: global.with(r.Options),
		Read:    r.Read.result(), Write: r.Write.result(), Trim: r.Trim.result(), Mixed: r.Mixed.result(),
		Sync: r.Sync.LatNS.result(1), SyncIOs: whole(r.Sync.TotalIOs),
		ThreadTime: whole(r.ThreadTime * 1e6),
		UserCPU:    r.UserCPU / 100, SystemCPU: r.SystemCPU / 100, CtxSwitches: whole(r.Ctx),
	}
	j.mendDataSyncs()
	j.Runtime = max(j.Read.Runtime, j.Write.Runtime, j.Trim.Runtime, j.Mixed.Runtime)
	if len(r.Depth) > 0 {
		j.DepthLevels = make(map[string]float64, len(r.Depth))
		for level, percent := range r.Depth {
			j.DepthLevels[level] = percent / 100
		}
	}
	if s := r.Steady; s != nil {
		j.Steadystate = &Steadystate{Rule: s.Rule, Duration: whole(s.Duration * 1e9), Attained: s.Attained != 0}
	}
	return j
}

// mendDataSyncs counts fdatasyncs. fio (seen with 3.33) has no slot for them among its totals: they are missing from
// "sync", whose latencies hold them, and are counted in the next field of memory, the short reads.
func (j *JobResult) mendDataSyncs() {
	if missing := j.Sync.N - j.SyncIOs; missing > 0 {
		j.SyncIOs += missing
		j.Read.ShortIOs = max(j.Read.ShortIOs-missing, 0)
	}
}

func (r rawDirection) result() Direction {
	d := Direction{
		IOBytes: whole(r.IOBytes), Bandwidth: r.BW * 1024, IOPS: r.IOPS, Runtime: whole(r.Runtime * 1e6),
		TotalIOs: whole(r.TotalIOs), ShortIOs: whole(r.ShortIOs), DropIOs: whole(r.DropIOs),
		Slat: latency(r.SlatNS, r.SlatUS), Clat: latency(r.ClatNS, r.ClatUS), Lat: latency(r.LatNS, r.LatUS),
	}
	if r.IOKBytes == nil { // 2.x: io_bytes is in KiB whatever it is called
		d.IOBytes = whole(r.IOBytes * 1024)
	}
	if r.BWBytes != nil {
		d.Bandwidth = *r.BWBytes
	}
	return d
}

func latency(ns, us rawLatency) Latency {
	if us.Max > 0 {
		return us.result(1000)
	}
	return ns.result(1)
}

// result scales a distribution to nanoseconds. Without samples, minimum and percentiles mean nothing (fio prints 0,
// or 2^64-1), so all is zero.
func (r rawLatency) result(unit uint64) Latency {
	if r.N != nil && *r.N == 0 || r.N == nil && r.Max == 0 {
		return Latency{}
	}
	u := float64(unit)
	l := Latency{Min: r.Min * u, Max: r.Max * u, Mean: r.Mean * u, StdDev: r.StdDev * u}
	if r.N != nil {
		l.N = whole(*r.N)
	}
	l.Percentiles = r.Percentiles
	l.Bins = r.Bins
	if unit != 1 {
		for p := range l.Percentiles {
			l.Percentiles[p] *= u
		}
		for i := range l.Bins {
			l.Bins[i].NS *= unit
		}
	}
	return l
}

func (r rawDiskUtil) result() DiskUtil {
	return DiskUtil{
		Name:    r.Name,
		ReadIOs: whole(r.ReadIOs), WriteIOs: whole(r.WriteIOs),
		ReadBytes: whole(r.ReadSectors * 512), WriteBytes: whole(r.WriteSectors * 512),
		ReadMerges: whole(r.ReadMerges), WriteMerges: whole(r.WriteMerges),
		Util: r.Util / 100,
	}
}

// whole turns a JSON number into a count: fractions are cut, what cannot be a count is 0 or the largest one.
func whole(f float64) int64 {
	switch {
	case !(f > 0):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(f)
}

// options are fio options by name. Clients of several servers print the global ones as a list of objects.
type options map[string]string

// UnmarshalJSON accepts an object or a list of objects, and values of any type; what else there is holds no option.
// A file named by several lines of a job comes as the same key again (fio issue 1571): joined by colons, as in a job.
func (o *options) UnmarshalJSON(data []byte) error {
	*o = options{}
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := dec.Token()
		if err != nil {
			return nil // the end
		}
		key, ok := tok.(string)
		if !ok {
			continue // a bracket
		}
		var v any
		if dec.Decode(&v) != nil {
			return nil // not the key of an object
		}
		value := ""
		if v != nil {
			value = fmt.Sprint(v)
		}
		if before, again := (*o)[key]; again && key == "filename" {
			value = before + ":" + value
		}
		(*o)[key] = value
	}
}

// with returns o overlaid by the job's own options, nil when there are none.
func (o options) with(own options) map[string]string {
	if len(o)+len(own) == 0 {
		return nil
	}
	all := make(map[string]string, len(o)+len(own))
	for _, m := range []options{o, own} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// mend repairs what fio prints although JSON forbids it: nan and inf as numbers, control characters in strings.
func mend(doc []byte) []byte {
	out := bytes.Clone(doc)
	inString := false
	for i := 0; i < len(out); i++ {
		c := out[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString && c < ' ':
			out[i] = ' '
		case !inString && strings.IndexByte("-nNiI", c) >= 0:
			i += blankNaN(out[i:])
		}
	}
	return out
}

// blankNaN overwrites a leading nan or inf, signed or not, with a 0 of the same length, and returns how many bytes
// may be passed over.
func blankNaN(b []byte) int {
	word := bytes.TrimPrefix(b, []byte("-"))
	for _, name := range []string{"nan", "infinity", "inf"} {
		if len(word) >= len(name) && strings.EqualFold(string(word[:len(name)]), name) {
			n := len(b) - len(word) + len(name)
			copy(b, "0")
			for i := 1; i < n; i++ {
				b[i] = ' '
			}
			return n - 1
		}
	}
	return 0
}
