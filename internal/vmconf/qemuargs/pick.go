package qemuargs

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/iotax/iotax/internal/vmconf"
	"github.com/iotax/iotax/internal/vmconf/qemuargs/words"
)

// start is one start of a QEMU, or what of one a text holds.
type start struct {
	program string       // "qemu-system-x86_64", "" when it is not known
	before  []words.Word // the programs that start it: sudo, taskset, numactl
	args    []words.Word
	at      int
	qemu    vmconf.Version
	when    string // of a log
	part    bool   // the command that it belongs to is not in the text
}

var (
	reProgram = regexp.MustCompile(`^(qemu-system-[a-z0-9_]+|qemu-kvm|kvm|qemu|qemu-dm|qemu-storage-daemon)(-[0-9][0-9.]*|-spice|-microvm)?(\.exe|w\.exe)?$`)
	reInside  = regexp.MustCompile(`^(?:(?:sudo|exec|env|nohup|setsid) +)*(?:\S*/)?(?:qemu-system-[a-z0-9_]+|qemu-kvm|qemu-storage-daemon)\s+-`)
	reLog     = regexp.MustCompile(`(?m)^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[^ ]*: starting up.*?qemu version: (\d+)\.(\d+)`)
)

// daemon is QEMU's program that serves disks and runs no machine.
const daemon = "qemu-storage-daemon"

// talkers are commands that only name a QEMU.
var talkers = set(`echo printf which command type apt apt-get dnf yum pacman zypper apk brew pkill killall pgrep grep egrep
	modprobe rm ls test [ [[ file dpkg man git docker podman cp mv ln chmod chown cat virt-install virsh qemu-img qemu-nbd
	qemu-io ps pidof alias sed awk`)

// program returns a program's name where a word is a QEMU.
func program(w string) string {
	base := path.Base(strings.ReplaceAll(strings.TrimLeft(w, "@+-"), `\`, "/"))
	if m := reProgram.FindStringSubmatch(base); m != nil {
		return m[1]
	}
	return ""
}

// pick finds the starts of QEMU in a text.
func pick(t *words.Text) []start {
	var out []start
	loose := -1 // options that no program is seen to get
	last := -1  // what the next command's options belong to
	for _, c := range t.Commands {
		ws := inside(c.Words)
		if len(ws) == 0 {
			continue
		}
		s, ok := begins(c, ws)
		switch {
		case ok:
			out = append(out, s)
			last = len(out) - 1
		case optionName(ws[0].Text) != "" && last >= 0:
			out[last].args = append(out[last].args, ws...)
		case known(ws[0].Text) && (loose >= 0 || !t.Vector || hasDisk(ws)):
			if loose < 0 {
				out = append(out, start{at: c.At, part: true})
				loose = len(out) - 1
			}
			last = loose
			out[loose].args = append(out[loose].args, ws...)
		default:
			last = -1
		}
	}
	out = orphans(t, out, loose)
	logs(t, out)
	return slices.DeleteFunc(out, func(s start) bool { return s.part && !hasDisk(s.args) && long(s.args) < 2 })
}

// long counts QEMU's options of several letters: two of them alone on their lines are no chance.
func long(ws []words.Word) int {
	n := 0
	for _, w := range ws {
		if known(w.Text) && len(optionName(w.Text)) > 1 {
			n++
		}
	}
	return n
}

// inside takes a command line in quotes apart: sh -c "qemu-system-x86_64 ...".
func inside(ws []words.Word) []words.Word {
	for i, w := range ws {
		if strings.Contains(w.Text, "qemu-") && reInside.MatchString(w.Text) {
			return append(append(ws[:i:i], w.Fields()...), ws[i+1:]...)
		}
	}
	return ws
}

// begins reports whether a command starts a QEMU.
func begins(c words.Command, ws []words.Word) (start, bool) {
	s := start{at: c.At}
	for _, w := range c.Env { // systemd's ExecStart=
		if k, v, _ := strings.Cut(w.Text, "="); strings.HasPrefix(k, "Exec") && program(v) != "" {
			s.program, s.args = program(v), ws
			return s, true
		}
	}
	if talkers[path.Base(ws[0].Text)] {
		return s, false
	}
	for _, short := range []bool{false, true} { // sudo -u qemu qemu-system-x86_64: "qemu" and "kvm" are names of users too
		for i, w := range ws {
			p := program(w.Text)
			if p == "" || len(w.Open()) > 0 || short != (p == "qemu" || p == "kvm") {
				continue
			}
			if i == 0 && len(ws) > 1 || options(ws[i:]) > 0 {
				s.program, s.before, s.args = p, ws[:i], ws[i+1:]
				return s, true
			}
		}
	}
	if optionName(ws[0].Text) != "" {
		return s, false
	}
	if !hasDisk(ws) && options(ws) < 3 {
		return s, false
	}
	for i, w := range ws { // a program behind a variable that is not known, a function, another name
		if known(w.Text) {
			s.before, s.args = ws[:i], ws[i:]
			return s, true
		}
	}
	return s, false
}

// options counts QEMU's options that other programs hardly have.
func options(ws []words.Word) int {
	n := long(ws)
	for _, w := range ws {
		if w.Text == "-m" || w.Text == "-M" {
			n++
		}
	}
	return n
}

// hasDisk reports whether the words hold an option for a disk, as only QEMU has it.
func hasDisk(ws []words.Word) bool {
	for i, w := range ws {
		if i+1 < len(ws) && diskOptions[optionName(w.Text)] && !strings.HasPrefix(w.Text, "--") && optionName(ws[i+1].Text) == "" {
			return true
		}
	}
	return false
}

// orphans adds the options of variables that no start uses: the start may stand in another file.
func orphans(t *words.Text, out []start, loose int) []start {
	used := map[int]bool{}
	for _, s := range out {
		for _, w := range s.args {
			used[w.Start] = true
		}
	}
	count := map[string]int{}
	for _, v := range t.Variables {
		count[v.Name]++
	}
	for _, v := range t.Variables {
		var ws []words.Word
		for _, w := range v.Words {
			if !used[w.Start] {
				ws = append(ws, w)
				used[w.Start] = true
			}
		}
		if !hasDisk(ws) && (len(ws) == 0 || !known(ws[0].Text) || options(ws) < 2) {
			continue
		}
		for len(ws) > 0 && !known(ws[0].Text) {
			ws = ws[1:]
		}
		if loose < 0 || count[v.Name] > 1 {
			out = append(out, start{at: ws[0].Start, part: true})
			if count[v.Name] == 1 {
				loose = len(out) - 1
			}
			out[len(out)-1].args = ws
			continue
		}
		out[loose].args = append(out[loose].args, ws...)
	}
	return out
}

// logs gives each start of one of libvirt's logs the time and the version that the line before it tells.
func logs(t *words.Text, out []start) {
	if !bytes.Contains(t.Data, []byte(": starting up")) {
		return
	}
	lines := reLog.FindAllSubmatchIndex(t.Data, -1)
	for i := range out {
		n := sort.Search(len(lines), func(j int) bool { return lines[j][0] >= out[i].at })
		if n == 0 || out[i].program == "" {
			continue
		}
		m := lines[n-1]
		out[i].when = string(t.Data[m[2]:m[3]])
		out[i].qemu.Major, _ = strconv.Atoi(string(t.Data[m[4]:m[5]]))
		out[i].qemu.Minor, _ = strconv.Atoi(string(t.Data[m[6]:m[7]]))
	}
}
