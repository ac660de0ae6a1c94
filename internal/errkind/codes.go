package errkind

// Meaning is one exit code for a person: a line of docs/EXITCODES.md and of the manual page.
type Meaning struct {
	Code Code
	Name string // as the constant is called
	Text string // one sentence without its full stop
}

// Meanings lists every exit code, ascending. A test holds docs/EXITCODES.md to it.
var Meanings = []Meaning{
	{OK, "OK", "everything that was asked for was done"},
	{Bug, "Bug", "a fault of iotax itself or of the system under it, shown whole"},
	{Usage, "Usage", "the request cannot be carried out as it stands; nothing was touched"},
	{Findings, "Findings", "an audit found something at or above the asked severity"},
	{Partial, "Partial", "the run ended early; what it measured is stored"},
	{Busy, "Busy", "another iotax uses the same state folder"},
	{Interrupted, "Interrupted", "ended by Ctrl-C or a termination signal; everything was undone"},
}
