// Package sys is the one door to the world: arguments, environment, streams, clock, random seed, folders and
// other programs. A test opens its own door, so that the whole command line runs inside the test.
package sys

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"time"
)

// World is what the program may ask of its surroundings. Every field must be set; OS sets them all.
type World struct {
	Args   []string                        // without the program's name
	Env    func(key string) (string, bool) // as os.LookupEnv
	Dir    string                          // absolute working directory; relative paths of the user start here
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Now    func() time.Time
	Seed   func() uint64 // unpredictable, for a run whose seed was not given

	IsTerminal func(stream any) bool // of Stdin, Stdout or Stderr
	Width      func(stream any) int  // columns now; DefaultWidth when it is no terminal
	Runner     Runner
}

// OS is the real world.
func OS() (World, error) {
	dir, err := os.Getwd()
	if err != nil {
		return World{}, err
	}
	return World{
		Args: os.Args[1:], Env: os.LookupEnv, Dir: dir,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Now: time.Now, Seed: randomSeed,
		IsTerminal: isTerminal, Width: width, Runner: Exec{},
	}, nil
}

// Getenv returns a variable of the environment, "" when it is unset.
func (w World) Getenv(key string) string {
	v, _ := w.Env(key)
	return v
}

// Abs makes a path of the user absolute. An empty path stays empty, it means "not given".
func (w World) Abs(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(w.Dir, path)
}

func randomSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails: the program ends instead
	return binary.LittleEndian.Uint64(b[:])
}
