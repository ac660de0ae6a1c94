package unit

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// byteUnits are the binary steps of bytes, each 1024 times the one before.
var byteUnits = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

var byteForm = regexp.MustCompile(`^(\d{1,19}(?:\.\d{1,9})?) ?([a-z]*)$`)

// ParseBytes reads a size in bytes: "4096", "4k", "512MiB", "1.5 GiB".
//
// A bare letter (k, m, g, t, p, e) and an IEC unit (KiB, MiB, ...) are powers of 1024, whatever the
// case of their letters: what QEMU and, for the bare letters, fio read. "1GB" is refused: it is
// 10^9 bytes to SI and 2^30 to fio. A fraction must come out as whole bytes. Errors say what was expected.
func ParseBytes(s string) (int64, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	if strings.HasPrefix(text, "-") {
		return 0, fmt.Errorf("%q is negative; expected a size such as 512MiB", clip(s))
	}
	m := byteForm.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is not a size; expected bytes such as 4096, 4k or 512MiB", clip(s))
	}
	exp, err := byteExponent(m[2])
	if err != nil {
		return 0, fmt.Errorf("%q %w", clip(s), err)
	}
	n, ok := new(big.Rat).SetString(m[1])
	if !ok { // the pattern admits only what SetString reads
		return 0, fmt.Errorf("%q is not a size; expected bytes such as 4096, 4k or 512MiB", clip(s))
	}
	n.Mul(n, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 10*exp)))
	if !n.IsInt() {
		return 0, fmt.Errorf("%q is not a whole number of bytes", clip(s))
	}
	if !n.Num().IsInt64() {
		return 0, fmt.Errorf("%q is too large; the most is 8EiB less one byte", clip(s))
	}
	return n.Num().Int64(), nil
}

// byteExponent returns the power of 1024 of a lower-case suffix.
func byteExponent(suffix string) (uint, error) {
	if suffix == "" || suffix == "b" {
		return 0, nil
	}
	i := strings.IndexByte("bkmgtpe", suffix[0])
	if i > 0 && (len(suffix) == 1 || suffix[1:] == "ib") {
		return uint(i), nil
	}
	if i > 0 && suffix[1:] == "b" {
		return 0, fmt.Errorf("is ambiguous; write %s for a power of 1024, or plain bytes", byteUnits[i])
	}
	return 0, fmt.Errorf("has an unknown unit; expected bytes such as 4096, 4k or 512MiB")
}

// clip keeps a quoted piece of input short enough for one line.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}

// Bytes prints n for a person in about two digits or more: "6.0 GiB", "512 MiB", "37 B".
func Bytes(n int64) string {
	if n < 0 {
		return "-" + Bytes(max(-n, 0)) // -MinInt64 overflows; it prints as 0 rather than recursing
	}
	i, v := 0, float64(n)
	for v >= 1023.5 && i < len(byteUnits)-1 {
		v /= 1024
		i++
	}
	if i > 0 && v < 9.95 {
		return fmt.Sprintf("%.1f %s", v, byteUnits[i])
	}
	return fmt.Sprintf("%.0f %s", v, byteUnits[i])
}

// ExactBytes prints n in the largest unit that holds it exactly, in a form that ParseBytes reads back
// to n: "4 KiB", "512 MiB", "1500 B".
func ExactBytes(n int64) string {
	i := 0
	for n != 0 && n%1024 == 0 && i < len(byteUnits)-1 {
		n /= 1024
		i++
	}
	return strconv.FormatInt(n, 10) + " " + byteUnits[i]
}

// FioBytes prints n as fio's options and their readers write it: "4k", "256k", "1m", "1500".
func FioBytes(n int64) string {
	s := strings.Fields(ExactBytes(n))
	if s[1] == "B" {
		return s[0]
	}
	return s[0] + strings.ToLower(s[1][:1])
}
