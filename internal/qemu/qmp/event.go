package qmp

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// maxQueued bounds the events that wait for one subscriber; BLOCK_IO_ERROR can come at the rate of the I/O.
const maxQueued = 4096

// Subscription is a queue of the events of some names. One goroutine reads it; however slowly it does, the
// connection goes on.
type Subscription struct {
	client *Client
	names  []string // empty means every event
	wake   chan struct{}

	mu      sync.Mutex
	queue   []Event
	dropped int
}

// Subscribe starts to collect the events of the given names, all events when there are none. Subscribe before
// the command that causes the event, and Close afterwards.
func (c *Client) Subscribe(names ...string) *Subscription {
	s := &Subscription{client: c, names: names, wake: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subs[s] = struct{}{}
	return s
}

// Close stops the collecting.
func (s *Subscription) Close() {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	delete(s.client.subs, s)
}

// Next returns the oldest event not yet read. It waits for one until the context or the connection ends; what
// was collected before the connection ended is still returned.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	for {
		if e, ok := s.take(); ok {
			return e, nil
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return Event{}, fmt.Errorf("no event: %w", ctx.Err())
		case <-s.client.Done():
			if e, ok := s.take(); ok {
				return e, nil
			}
			return Event{}, fmt.Errorf("no event: %w", s.client.Err())
		}
	}
}

// Wait reads events until one satisfies match and returns it.
func (s *Subscription) Wait(ctx context.Context, match func(Event) bool) (Event, error) {
	for {
		e, err := s.Next(ctx)
		if err != nil || match(e) {
			return e, err
		}
	}
}

// Dropped returns how many events were lost because nobody read them.
func (s *Subscription) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

func (s *Subscription) take() (Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return Event{}, false
	}
	e := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	return e, true
}

func (s *Subscription) offer(e Event) {
	if len(s.names) > 0 && !slices.Contains(s.names, e.Name) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == maxQueued {
		s.dropped++
		return
	}
	s.queue = append(s.queue, e)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (c *Client) publish(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.subs {
		s.offer(e)
	}
}
