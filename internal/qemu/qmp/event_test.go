package qmp

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
)

func TestSubscriptions(t *testing.T) {
	c := connect(t, func(p *peer) {
		id := p.hear().ID
		p.say(`{"event": "STOP", "timestamp": {"seconds": 1, "microseconds": 0}}`)
		p.say(`{"event": "DEVICE_DELETED", "data": {"path": "/x"}, "timestamp": {"seconds": 1, "microseconds": 0}}`)
		p.say(`{"event": "DEVICE_DELETED", "data": {"device": "d1"}, "timestamp": {"seconds": 2, "microseconds": 0}}`)
		p.say(`{"return": {}, "id": %d}`, id)
		p.Close()
	})
	all, some, closed := c.Subscribe(), c.Subscribe("DEVICE_DELETED"), c.Subscribe()
	closed.Close()
	if err := c.Call(t.Context(), "device_del", nil, nil); err != nil {
		t.Fatal(err)
	}
	e, err := some.Wait(t.Context(), func(e Event) bool {
		var d struct{ Device string }
		return json.Unmarshal(e.Data, &d) == nil && d.Device == "d1"
	})
	if err != nil || e.Time.Unix() != 2 {
		t.Errorf("Wait = %+v, %v", e, err)
	}
	for _, want := range []string{"STOP", "DEVICE_DELETED", "DEVICE_DELETED"} {
		if e, err := all.Next(t.Context()); err != nil || e.Name != want {
			t.Errorf("Next = %+v, %v; want %s", e, err, want)
		}
	}
	for name, s := range map[string]*Subscription{"read to the end": all, "closed": closed} {
		if _, err := s.Next(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
}

func TestSlowSubscriberLosesEventsOnly(t *testing.T) {
	c := connect(t, func(p *peer) {
		id := p.hear().ID
		for range maxQueued + 5 {
			p.say(`{"event": "BLOCK_IO_ERROR", "timestamp": {"seconds": 1, "microseconds": 0}}`)
		}
		p.say(`{"return": {}, "id": %d}`, id)
	})
	s := c.Subscribe()
	if err := c.Call(t.Context(), "x", nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.Dropped(); got != 5 {
		t.Errorf("Dropped = %d, want 5", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	for range maxQueued {
		if _, err := s.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next after cancel: %v", err)
	}
}
