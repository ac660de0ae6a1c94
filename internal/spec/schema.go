package spec

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/iotax/iotax/internal/unit"
)

// setter reads one value into its field of T. It returns false after it has said what was expected.
type setter[T any] func(d *decoder, at place, n ast.Node, to *T) bool

// schema is what a mapping may hold: its keys are the JSON names of T's fields.
type schema[T any] map[string]setter[T]

var experimentSchema = schema[Experiment]{
	"name":       text(func(e *Experiment) *string { return &e.Name }),
	"title":      text(func(e *Experiment) *string { return &e.Title }),
	"size":       size(func(e *Experiment) *int64 { return &e.Size }),
	"runtime":    span(func(e *Experiment) *time.Duration { return &e.Runtime }),
	"ramp":       span(func(e *Experiment) *time.Duration { return &e.Ramp }),
	"budget":     span(func(e *Experiment) *time.Duration { return &e.Budget }),
	"target":     ratio(func(e *Experiment) *float64 { return &e.Target }),
	"min_rounds": number(func(e *Experiment) *int { return &e.MinRounds }),
	"max_rounds": number(func(e *Experiment) *int { return &e.MaxRounds }),
	"boots":      number(func(e *Experiment) *int { return &e.Boots }),

	"detect":       ratio(func(e *Experiment) *float64 { return &e.Detect }),
	"host_storage": text(func(e *Experiment) *string { return &e.HostStorage }),
	"compressible": ratio(func(e *Experiment) *float64 { return &e.Compressible }),
	"scale":        text(func(e *Experiment) *string { return &e.Scale }),
	"note":         text(func(e *Experiment) *string { return &e.Note }),
}

var guestSchema = schema[Guest]{
	"cpus":           number(func(g *Guest) *int { return &g.CPUs }),
	"memory":         size(func(g *Guest) *int64 { return &g.Memory }),
	"hugepages":      size(func(g *Guest) *int64 { return &g.Hugepages }),
	"memory_backend": text(func(g *Guest) *string { return &g.MemoryBackend }),
	"pinning":        text(func(g *Guest) *string { return &g.Pinning }),
	"hypervisor":     text(func(g *Guest) *string { return &g.Hypervisor }),
}

var scaleSchema = schema[Scale]{
	"size":       size(func(s *Scale) *int64 { return &s.Size }),
	"runtime":    span(func(s *Scale) *time.Duration { return &s.Runtime }),
	"ramp":       span(func(s *Scale) *time.Duration { return &s.Ramp }),
	"budget":     span(func(s *Scale) *time.Duration { return &s.Budget }),
	"min_rounds": number(func(s *Scale) *int { return &s.MinRounds }),
	"max_rounds": number(func(s *Scale) *int { return &s.MaxRounds }),
	"boots":      number(func(s *Scale) *int { return &s.Boots }),
	"interval":   span(func(s *Scale) *time.Duration { return &s.Interval }),
	"note":       text(func(s *Scale) *string { return &s.Note }),
	"workloads":  words(func(s *Scale) *[]string { return &s.Workloads }),
}

var stackSchema = schema[Stack]{
	"name":                text(func(s *Stack) *string { return &s.Name }),
	"title":               text(func(s *Stack) *string { return &s.Title }),
	"role":                text(func(s *Stack) *string { return &s.Role }),
	"storage":             text(func(s *Stack) *string { return &s.Storage }),
	"pool":                text(func(s *Stack) *string { return &s.Pool }),
	"extent_size":         size(func(s *Stack) *int64 { return &s.ExtentSize }),
	"stripes":             number(func(s *Stack) *int { return &s.Stripes }),
	"lv_read_ahead":       text(func(s *Stack) *string { return &s.LVReadAhead }),
	"chunk_size":          size(func(s *Stack) *int64 { return &s.ChunkSize }),
	"zeroing":             text(func(s *Stack) *string { return &s.Zeroing }),
	"recordsize":          size(func(s *Stack) *int64 { return &s.RecordSize }),
	"volblocksize":        size(func(s *Stack) *int64 { return &s.VolBlockSize }),
	"compression":         text(func(s *Stack) *string { return &s.Compression }),
	"primarycache":        text(func(s *Stack) *string { return &s.PrimaryCache }),
	"sync":                text(func(s *Stack) *string { return &s.Sync }),
	"empty":               boolean(func(s *Stack) *bool { return &s.Empty }),
	"snapshot":            text(func(s *Stack) *string { return &s.Snapshot }),
	"format":              text(func(s *Stack) *string { return &s.Format }),
	"preallocation":       text(func(s *Stack) *string { return &s.Preallocation }),
	"cluster_size":        size(func(s *Stack) *int64 { return &s.ClusterSize }),
	"extended_l2":         boolean(func(s *Stack) *bool { return &s.ExtendedL2 }),
	"lazy_refcounts":      boolean(func(s *Stack) *bool { return &s.LazyRefcounts }),
	"l2_cache_size":       size(func(s *Stack) *int64 { return &s.L2CacheSize }),
	"backing_file":        boolean(func(s *Stack) *bool { return &s.BackingFile }),
	"protocol":            text(func(s *Stack) *string { return &s.Protocol }),
	"daemon":              text(func(s *Stack) *string { return &s.Daemon }),
	"cache":               text(func(s *Stack) *string { return &s.Cache }),
	"aio":                 text(func(s *Stack) *string { return &s.AIO }),
	"iothread":            boolean(func(s *Stack) *bool { return &s.IOThread }),
	"iothread_vq_mapping": number(func(s *Stack) *int { return &s.VQMapping }),
	"discard":             text(func(s *Stack) *string { return &s.Discard }),
	"detect_zeroes":       text(func(s *Stack) *string { return &s.DetectZeroes }),
	"backend":             text(func(s *Stack) *string { return &s.Backend }),
	"bus":                 text(func(s *Stack) *string { return &s.Bus }),
	"queues":              number(func(s *Stack) *int { return &s.Queues }),
	"queue_size":          number(func(s *Stack) *int { return &s.QueueSize }),
	"scheduler":           text(func(s *Stack) *string { return &s.Scheduler }),
	"read_ahead":          text(func(s *Stack) *string { return &s.ReadAhead }),
	"machine":             text(func(s *Stack) *string { return &s.Machine }),
	"cpus":                number(func(s *Stack) *int { return &s.CPUs }),
	"hugepages":           size(func(s *Stack) *int64 { return &s.Hugepages }),
	"memory_backend":      text(func(s *Stack) *string { return &s.MemoryBackend }),
	"pinning":             text(func(s *Stack) *string { return &s.Pinning }),
	"hypervisor":          text(func(s *Stack) *string { return &s.Hypervisor }),
}

var workloadSchema = schema[Workload]{
	"name":              text(func(w *Workload) *string { return &w.Name }),
	"title":             text(func(w *Workload) *string { return &w.Title }),
	"generator":         text(func(w *Workload) *string { return &w.Generator }),
	"rw":                text(func(w *Workload) *string { return &w.RW }),
	"bs":                size(func(w *Workload) *int64 { return &w.BS }),
	"iodepth":           number(func(w *Workload) *int { return &w.IODepth }),
	"numjobs":           number(func(w *Workload) *int { return &w.NumJobs }),
	"warm":              boolean(func(w *Workload) *bool { return &w.Warm }),
	"fdatasync":         number(func(w *Workload) *int { return &w.FDataSync }),
	"rwmixread":         number(func(w *Workload) *int { return &w.RWMixRead }),
	"bssplit":           text(func(w *Workload) *string { return &w.BSSplit }),
	"bs_is_seq_rand":    boolean(func(w *Workload) *bool { return &w.BSIsSeqRand }),
	"percentage_random": text(func(w *Workload) *string { return &w.PercentageRandom }),
	"blockalign":        size(func(w *Workload) *int64 { return &w.BlockAlign }),
	"thinktime":         span(func(w *Workload) *time.Duration { return &w.ThinkTime }),
	"thinktime_blocks":  number(func(w *Workload) *int { return &w.ThinkTimeBlocks }),
	"rate_share":        ratio(func(w *Workload) *float64 { return &w.RateShare }),
	"requests":          number(func(w *Workload) *int { return &w.Requests }),
	"interval":          span(func(w *Workload) *time.Duration { return &w.Interval }),
}

// fill reads entries into to and returns the place of each by its key. Keys outside the schema are
// faults, unless they are in handled: those the caller reads itself.
func fill[T any](d *decoder, s schema[T], entries []entry, to *T, handled ...string) map[string]place {
	places := map[string]place{}
	for _, e := range entries {
		if slices.Contains(handled, e.key) {
			continue
		}
		set, ok := s[e.key]
		if !ok {
			at := e.at
			at.path = strings.TrimSuffix(strings.TrimSuffix(at.path, clip(e.key)), ".") // the fault is the mapping's
			d.addAt(at, "%s", unknown("key", e.key, s.keys(handled...)))
			continue
		}
		at := e.where
		at.broken = !set(d, at, e.value, to)
		places[e.key] = at
	}
	return places
}

func (s schema[T]) keys(more ...string) []string {
	keys := slices.Clone(more)
	for k := range s {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// parsed makes a setter out of a function from text to a value.
func parsed[T, V any](expected string, read func(string) (V, error), field func(*T) *V) setter[T] {
	return func(d *decoder, at place, n ast.Node, to *T) bool {
		s, ok := d.scalar(n)
		if !ok {
			d.addAt(at, "expected %s, got %s", expected, d.describe(n))
			return false
		}
		v, err := read(s)
		if err != nil {
			d.addAt(at, "%v", err)
			return false
		}
		*field(to) = v
		return true
	}
}

func text[T any](field func(*T) *string) setter[T] {
	return parsed("a word or sentence", func(s string) (string, error) { return s, nil }, field)
}

func size[T any](field func(*T) *int64) setter[T] {
	return parsed("a size such as 512MiB", unit.ParseBytes, field)
}

func span[T any](field func(*T) *time.Duration) setter[T] {
	return parsed("a time such as 1s", unit.ParseDuration, field)
}

func ratio[T any](field func(*T) *float64) setter[T] {
	return parsed("a share such as 0.05 or 5%", ParseShare, field)
}

func number[T any](field func(*T) *int) setter[T] {
	return parsed("a whole number", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return 0, expected("a whole number", s)
		}
		return n, nil
	}, field)
}

func boolean[T any](field func(*T) *bool) setter[T] {
	return parsed("true or false", func(s string) (bool, error) {
		if s != "true" && s != "false" {
			return false, expected("true or false", s)
		}
		return s == "true", nil
	}, field)
}

// ParseShare reads "0.05" and "5 %" alike.
func ParseShare(s string) (float64, error) {
	digits, cent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || v != v {
		return 0, expected("a share such as 0.05 or 5%", s)
	}
	if cent {
		v /= 100
	}
	return v, nil
}
