package provision

import "context"

// Drainer is a driver whose storage holds back what was written to a volume, also after a sync: it would reach the
// disk, and be counted there, while something else is measured.
type Drainer interface {
	// Drain returns when all that was written to the volume is in its place.
	Drain(ctx context.Context, v Volume) error
}
