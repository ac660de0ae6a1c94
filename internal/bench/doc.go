// Package bench holds the benchmarks that need a real guest, a real disk or another tool to compare with. It has no
// code of its own; docs/BENCHMARKS.md says what they ask and what came of them.
package bench
