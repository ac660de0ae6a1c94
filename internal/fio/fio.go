// Package fio writes fio job files and reads every output format of fio 2.1 to 3.41. It is pure: it runs nothing.
package fio

// Args returns fio's arguments (without the program's name) for running the job file at path and printing one
// json+ document on standard output. An empty path, or "-", reads the job from standard input.
func Args(path string) []string {
	if path == "" {
		path = "-"
	}
	return []string{"--output-format=json+", "--eta=never", path}
}
