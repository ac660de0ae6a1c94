package proc

import "context"

// Guard returns a context that ends also when done is closed, with why() as its cause. A process that has ended
// answers nobody: whatever needs it is not to be waited for any longer.
func Guard(ctx context.Context, done <-chan struct{}, why func() error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-done:
			cancel(why())
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}
