// Package repotest holds the policy of this repository as plain tests: which package may import which, how long
// a file may be, and that the documents tell the truth about the code.
package repotest
