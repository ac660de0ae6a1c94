package meter

import (
	"sync"
	"time"
)

// Interval is how often a Watch reads the threads: often enough for the steady part of a window to be cut out, and seldom
// enough to cost next to nothing (BenchmarkLook has what one look costs).
const Interval = 50 * time.Millisecond

// Watch reads the counters of threads again and again until it is stopped.
type Watch struct {
	mu        sync.Mutex
	processes []*process
	cycles    *counter // nil where the processor or the kernel does not count them
	exits     *counter
	samples   []sample

	stop    chan struct{}
	stopped chan struct{}
}

// sample is every counter at one moment, since the processes started.
type sample struct {
	at            time.Time
	use           map[string]Use // by role
	process       time.Duration
	seen          time.Duration // the part of it that threads have that were seen
	cycles, exits *float64
}

// Start begins to watch. With exits, the exits from guests to KVM are counted too, where the kernel tells them. More
// processes may be added.
func Start(every time.Duration, exits bool, processes ...Process) *Watch {
	w := &Watch{stop: make(chan struct{}), stopped: make(chan struct{}), cycles: &counter{event: cycles}}
	if event, err := kvmExits(); exits && err == nil {
		w.exits = &counter{event: event}
	}
	for _, p := range processes {
		w.Add(p)
	}
	w.look()
	go w.run(every)
	return w
}

// Add has one more process watched, one that was just started.
func (w *Watch) Add(p Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	followed := &process{Process: p, threads: map[int]*thread{}}
	followed.find()
	w.processes = append(w.processes, followed)
	w.cycles, w.exits = w.cycles.add(followed), w.exits.add(followed)
}

func (w *Watch) run(every time.Duration) {
	defer close(w.stopped)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
			w.look()
		}
	}
}

func (w *Watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := sample{at: time.Now(), use: map[string]Use{}}
	for _, p := range w.processes {
		p.look()
		p.use(s.use)
		s.process += p.total
		s.seen += p.total - p.rest
	}
	s.cycles, s.exits = w.cycles.read(), w.exits.read()
	w.samples = append(w.samples, s)
}

// Stop looks once more and ends the watch. It is to be called once.
func (w *Watch) Stop() Samples {
	close(w.stop)
	<-w.stopped
	w.look()
	for _, p := range w.processes {
		p.close()
	}
	w.cycles.close()
	w.exits.close()
	return w.samples
}

// Samples is what a Watch saw.
type Samples []sample

// Span is what the threads took between two moments.
type Span struct {
	ByRole        map[string]Use
	Process       time.Duration // CPU time of the processes as wholes
	Cycles, Exits *float64      // nil where they could not be counted
}

// Between cuts a span out, by straight lines between the looks before and after its ends. It is false when the watch
// did not reach from the one to the other, and where the kernel does not count the time of threads.
func (s Samples) Between(from, to time.Time) (Span, bool) {
	a, ok := s.at(from)
	b, ok2 := s.at(to)
	if !ok || !ok2 || !to.After(from) {
		return Span{}, false
	}
	span := Span{ByRole: map[string]Use{}, Process: max(b.process-a.process, 0), Cycles: since(a.cycles, b.cycles), Exits: since(a.exits, b.exits)}
	for role, use := range b.use {
		span.ByRole[role] = use.minus(a.use[role])
	}
	last := s[len(s)-1]
	return span, last.seen > 0 || last.process == 0
}

// Whole is the span from the first look to the last.
func (s Samples) Whole() (Span, bool) {
	if len(s) == 0 {
		return Span{}, false
	}
	return s.Between(s[0].at, s[len(s)-1].at)
}

// at is the counters at a moment.
func (s Samples) at(moment time.Time) (sample, bool) {
	for i := 1; i < len(s); i++ {
		a, b := s[i-1], s[i]
		if moment.Before(a.at) || moment.After(b.at) || !b.at.After(a.at) {
			continue
		}
		share := float64(moment.Sub(a.at)) / float64(b.at.Sub(a.at))
		out := sample{at: moment, use: map[string]Use{}, process: Use{CPU: a.process}.between(Use{CPU: b.process}, share).CPU}
		for role, later := range b.use {
			out.use[role] = a.use[role].between(later, share)
		}
		out.cycles, out.exits = along(a.cycles, b.cycles, share), along(a.exits, b.exits, share)
		return out, true
	}
	return sample{}, false
}

func along(a, b *float64, share float64) *float64 {
	switch {
	case share == 0:
		return a
	case share == 1:
		return b
	case a == nil || b == nil:
		return nil
	}
	v := *a + share*(*b-*a)
	return &v
}

func since(earlier, now *float64) *float64 {
	if earlier == nil || now == nil || *now < *earlier {
		return nil
	}
	v := *now - *earlier
	return &v
}
