package unit

import "strconv"

// Count is a number of things: "1 run", "2 runs".
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}
