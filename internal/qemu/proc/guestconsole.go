package proc

// Console remembers the last 64 KiB of what a guest's console said, for guests whose console is not QEMU's standard
// output. It is a writer; the others of its methods may be called at the same time.
type Console struct{ console }

// NewConsole returns a console; onLine, which may be nil, is called with each of its lines.
func NewConsole(onLine func(string)) *Console { return &Console{console{onLine: onLine}} }

// Text is what the console said last.
func (c *Console) Text() string { return c.text() }

// Trouble is the first line that says that the guest's kernel cannot go on as it should, "" when none did.
func (c *Console) Trouble() string { return c.firstTrouble() }
