package inside

import "time"

// PortName is the name of the virtio-serial port between the lab's owner and the machine.
const PortName = "org.iotax.lab"

// Operations over the port, in the frames of package wire.
const (
	OpHello  = "hello"  // event: the machine is up; Hello
	OpMount  = "mount"  // Mount -> nothing
	OpRun    = "run"    // Command -> Exit, with OpOutput of the same ID in between
	OpOutput = "output" // Output
)

// Hello is the machine's first word.
type Hello struct {
	Xen    bool          `json:"xen"`    // this is dom0 and its toolstack runs
	Uptime time.Duration `json:"uptime"` // of the machine's kernel
}

// Mount shows a shared folder of the owner's inside the machine.
type Mount struct {
	Tag      string `json:"tag"` // of the 9p device
	Path     string `json:"path"`
	ReadOnly bool   `json:"read_only"`
}

// Command is a program to run inside the machine.
type Command struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env,omitempty"` // added to Environment
	Dir  string   `json:"dir,omitempty"` // "" = /root
}

// Output is a part of what a command wrote.
type Output struct {
	Data   []byte `json:"data"`
	Stderr bool   `json:"stderr,omitempty"`
}

// Exit is how a command ended: its exit code, 128 + the signal that killed it.
type Exit struct {
	Code int `json:"code"`
}

// Environment is what every command finds.
var Environment = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=/root", "USER=root", "LC_ALL=C.UTF-8", "TERM=dumb",
}
