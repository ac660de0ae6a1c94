package calibrate

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iotax/iotax/internal/record"
)

// even is a trace of n windows at equal distances.
func even(n int, iops func(i int) float64) Trace {
	t := Trace{Name: "even"}
	for i := range n {
		t.Points = append(t.Points, Point{At: time.Duration(i) * 700 * time.Millisecond, IOPS: iops(i)})
	}
	return t
}

func TestReadWhatIsWritten(t *testing.T) {
	want := even(40, func(i int) float64 { return 1000 + float64(i)/2 })
	var b bytes.Buffer
	if err := want.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTrace("even", &b)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
}

func TestReadTraceFaults(t *testing.T) {
	lines := "seconds,iops\n"
	for i := range 40 {
		lines += fmt.Sprintf("%d.5,100\n", i)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "has 0 windows"},
		"another file":  {"a,b\n1,2\n", `first line is "a,b"`},
		"short":         {"seconds,iops\n1,2\n", "has 1 windows, want at least 25"},
		"three columns": {"seconds,iops\n1,2,3\n", "wrong number of fields"},
		"no number":     {"seconds,iops\nx,2\n", `line 2: "x" is no time`},
		"not finite":    {"seconds,iops\n1,Inf\n", `line 2: "Inf" is no number`},
		"stalled":       {"seconds,iops\n1,0\n", `line 2: "0" is no number`},
		"backwards":     {lines + "3,100\n", "window 41 is not after"},
		"unclosed":      {"seconds,iops\n\"1,2\n", "trace unclosed: "},
	} {
		if _, err := ReadTrace(name, strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := even(3, func(int) float64 { return 1 }).Write(&bytes.Buffer{}); err == nil {
		t.Error("a trace that cannot be read is written")
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add("seconds,iops\n0.5,100\n1,2\n")
	f.Add("seconds,iops\n1e6,1e-300\n")
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := ReadTrace("fuzz", strings.NewReader(text))
		if err != nil {
			return
		}
		d := newDevice(trace, rand.New(rand.NewPCG(1, 2)), nil)
		if v := d.speed(time.Hour); !(v > 0) || math.IsInf(v, 0) {
			t.Errorf("a device of %q has speed %g", text, v)
		}
	})
}

// The recordings that come with the program can be read, and no machine can be told from them.
func TestRecordings(t *testing.T) {
	all, err := Traces()
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range all {
		if !strings.HasPrefix(trace.Name, "host-") && !strings.HasPrefix(trace.Name, "guest-") && !strings.HasPrefix(trace.Name, "run-") {
			t.Errorf("%s says neither host nor guest nor run", trace.Name)
		}
	}
	if len(all) < 4 {
		t.Errorf("%d recordings, want those of four loads at least", len(all))
	}
}

// Taking a trace apart and drawing from it keeps how much it scatters, and what moves slowly moves for all alike.
func TestDeviceKeepsTheNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	slow := func(i int) float64 { return 0.3 * math.Sin(float64(i)/30) }
	trace := even(400, func(i int) float64 { return 5000 * math.Exp(slow(i)+0.05*r.NormFloat64()) })
	d := newDevice(trace, r, nil)
	d.from = 0
	var off, squares, n float64
	for i := 20; i < 380; i++ {
		v := math.Log(d.speed(time.Duration(i) * 700 * time.Millisecond))
		off += v - slow(i)
		squares += (v - slow(i)) * (v - slow(i))
		n++
	}
	if sd := math.Sqrt(squares/n - off*off/n/n); sd < 0.045 || sd > 0.065 {
		t.Errorf("windows scatter by %.3f around what moves slowly, want about 0.05", sd)
	}
	// The recording is gone through back and forth, without a seam.
	for _, k := range []int{0, 1, 2, 3} {
		at := time.Duration(k) * d.length()
		before, after := d.speed(at+d.length()-time.Second), d.speed(at+d.length()+time.Second)
		if math.Abs(math.Log(before/after)) > 0.3 {
			t.Errorf("turn %d: %.2f before the end and %.2f after it", k, before, after)
		}
	}
}

func TestDisturbances(t *testing.T) {
	const span = 10 * time.Minute
	for _, d := range disturbances {
		low, high := math.Inf(1), math.Inf(-1)
		for seed := range uint64(20) {
			disturb := d.make(rand.New(rand.NewPCG(seed, 1)), span)
			for at := time.Duration(0); at <= span; at += time.Second {
				v := disturb(at)
				low, high = min(low, v), max(high, v)
			}
		}
		if high-low < 0.3 || high-low > 2 {
			t.Errorf("%s moves the device from %.2f to %.2f", d.name, low, high)
		}
	}
}

func TestExtract(t *testing.T) {
	start := time.Unix(1000, 0)
	window := func(stack, workload string, seconds int, iops float64) record.Window {
		return record.Window{
			Stack: stack, Workload: workload, Status: record.OK, Started: start.Add(time.Duration(seconds) * time.Second), Elapsed: 1e9,
			Metrics: map[string]float64{record.IOPS: iops},
		}
	}
	windows := []record.Window{window("s", "w", 0, 900)}
	windows[0].Discard = true
	for i := range leastOfCell {
		windows = append(windows, window("s", "w", 10+10*i, float64(10+10*i)), window("s", "v", 15+10*i, float64(100*(i%2+1))))
	}
	windows = append(windows, window("s", "w", 90, 0), window("host", "w", 95, 1)) // no number, and too few for a median

	got := Extract("x", nil, windows)
	if n := len(got.Points); n != 2*leastOfCell {
		t.Fatalf("%d points: %+v", n, got)
	}
	first, second := Point{At: 500 * time.Millisecond, IOPS: float64(usualIOPS) / 3}, Point{At: 5500 * time.Millisecond, IOPS: usualIOPS}
	if diff := cmp.Diff([]Point{first, second}, got.Points[:2], cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Extract("x", []string{"host"}, windows); len(got.Points) != 0 {
		t.Errorf("the host alone gives %+v", got)
	}
}
