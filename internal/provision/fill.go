package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

const (
	fillBlock   = 1 << 20 // bytes of one write
	fillWorkers = 4       // writes in flight
)

// Extent is a range of bytes of a file or device.
type Extent struct{ At, Length int64 }

// Write fills the extents of a file or device with content, in order, past the page cache (O_DIRECT) where the file
// system can, and returns when the data is on the disk. progress is as in Driver.Fill. ENOSPC comes back as one clear
// line.
func Write(ctx context.Context, path string, extents []Extent, c Content, progress func(int64)) error {
	flags := []int{unix.O_DIRECT, 0}
	if !aligned(extents) {
		flags = flags[1:]
	}
	var err error
	for _, flag := range flags {
		// tmpfs before Linux 6.6 and some FUSE file systems refuse O_DIRECT with EINVAL, at open or at the first
		// write; so does a disk with a larger logical block.
		if err = write(ctx, path, flag, extents, c, progress); !errors.Is(err, unix.EINVAL) {
			break
		}
	}
	return Full(err, path)
}

func aligned(extents []Extent) bool {
	for _, e := range extents {
		if e.At%Align != 0 || e.Length%Align != 0 {
			return false
		}
	}
	return true
}

func write(ctx context.Context, path string, flag int, extents []Extent, c Content, progress func(int64)) error {
	f, err := os.OpenFile(path, os.O_WRONLY|flag, 0)
	if err != nil {
		return err
	}
	w := filler{file: f, left: slices.Clone(extents), content: c, progress: progress}
	group, working := errgroup.WithContext(ctx)
	for range fillWorkers {
		group.Go(func() error { return w.work(working) })
	}
	err = group.Wait()
	if err == nil {
		err = cutShort(ctx, f.Sync)
	}
	return errors.Join(err, f.Close())
}

// cutShort does something that the kernel does not let us interrupt, such as a sync, and stops waiting for it when ctx
// ends: then it goes on by itself.
func cutShort(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// filler hands out blocks to its workers.
type filler struct {
	file    *os.File
	content Content

	mu       sync.Mutex
	left     []Extent
	written  int64
	progress func(int64)
}

func (w *filler) work(ctx context.Context) error {
	// O_DIRECT needs an aligned buffer: a mapping starts at a page.
	buffer, err := unix.Mmap(-1, 0, fillBlock, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("memory for filling: %w", err)
	}
	defer func() { _ = unix.Munmap(buffer) }() // cannot fail for a mapping that was just made
	for {
		next, ok := w.next()
		if !ok {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		block := buffer[:next.Length]
		w.content.Write(block, next.At)
		// WriteAt goes on after a short write, and a full disk gives ENOSPC at the latest then.
		if _, err := w.file.WriteAt(block, next.At); err != nil {
			return err
		}
		w.report(next.Length)
	}
}

func (w *filler) next() (Extent, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.left) > 0 && w.left[0].Length == 0 {
		w.left = w.left[1:]
	}
	if len(w.left) == 0 {
		return Extent{}, false
	}
	e := &w.left[0]
	block := Extent{e.At, min(e.Length, fillBlock)}
	e.At += block.Length
	e.Length -= block.Length
	return block, true
}

func (w *filler) report(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written += n
	if w.progress != nil {
		w.progress(w.written)
	}
}
