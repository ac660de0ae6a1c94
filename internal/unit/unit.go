// Package unit parses and prints bytes, rates, durations and ratios, with one scale per column and no
// digit that the interval does not deserve.
package unit
