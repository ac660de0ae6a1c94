package iometer

import (
	"slices"
	"strconv"
	"strings"
)

// workers reads from the list of managers what belongs to an access specification but is kept there: how many I/Os
// the workers that have it keep outstanding.
type workers struct {
	key      string // the comment line above the data at hand
	depth    int    // of the worker at hand, 0 when it does not say
	assigned []string
	depths   map[string][]int // by the lower-case name of a specification
}

const (
	workerKey      = "Worker"
	workerEnd      = "End worker"
	assignedKey    = "Assigned access specs"
	outstandingKey = "Number of outstanding IOs"
)

// read takes a line outside the section of the access specifications.
func (w *workers) read(p *parser, line, content string) {
	if comment, ok := strings.CutPrefix(content, "'"); ok {
		w.key = comment
		switch {
		case strings.EqualFold(comment, workerKey):
			w.depth, w.assigned = 0, nil
		case strings.EqualFold(comment, workerEnd):
			w.leave()
		}
		return
	}
	switch {
	case strings.EqualFold(w.key, assignedKey):
		w.assigned = append(w.assigned, content)
	case hasPrefix(w.key, outstandingKey) && w.depth == 0:
		word, _, _ := strings.Cut(content, ",")
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 {
			p.add(p.line, column(line, content), "%q outstanding I/Os; expected a whole number, 1 or more", clip(word))
			return
		}
		w.depth = n
	}
}

// leave notes the depth of a worker that ends for every specification that it has.
func (w *workers) leave() {
	if w.depths == nil {
		w.depths = map[string][]int{}
	}
	for _, name := range w.assigned {
		if name = strings.ToLower(name); w.depth > 0 && !slices.Contains(w.depths[name], w.depth) {
			w.depths[name] = append(w.depths[name], w.depth)
		}
	}
	w.assigned = nil
}

// assign gives the specifications the depths of their workers.
func (p *parser) assign() {
	for i := range p.specs {
		depths := p.workers.depths[strings.ToLower(p.specs[i].Name)]
		slices.Sort(depths)
		p.specs[i].Outstanding = depths
	}
}
