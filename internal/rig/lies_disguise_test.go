package rig

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/iotax/iotax/internal/vm/vmtest"
)

// The variables that make this test's own program a disguise of QEMU.
const (
	disguiseEnv = "IOTAX_TEST_QEMU"          // the real QEMU
	clockEnv    = "IOTAX_TEST_CLOCK"         // factor of the rate that the guest is told of its time stamp counter
	stripEnv    = "IOTAX_TEST_STRIP"         // iothread that no device gets
	refuseEnv   = "IOTAX_TEST_REFUSE_SOCKET" // where the calls that are in question are judged, see refusing
)

func TestMain(m *testing.M) {
	if qemu := os.Getenv(disguiseEnv); qemu != "" {
		fmt.Fprintln(os.Stderr, disguise(qemu))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// disguise becomes QEMU with other arguments than the ones given, and with a kernel that refuses it asynchronous I/O. It
// returns only when that fails.
func disguise(qemu string) error {
	args := append([]string{qemu}, os.Args[1:]...)
	for i, a := range args {
		if id := os.Getenv(stripEnv); id != "" {
			args[i] = strings.Replace(a, ",iothread="+id, "", 1)
		}
		if factor, err := strconv.ParseFloat(os.Getenv(clockEnv), 64); err == nil {
			args[i] = tscRate.ReplaceAllStringFunc(args[i], func(s string) string {
				rate, _ := strconv.ParseFloat(tscRate.FindStringSubmatch(s)[1], 64)
				return fmt.Sprintf("tsc_early_khz=%.0f", rate*factor)
			})
		}
	}
	if socket := os.Getenv(refuseEnv); socket != "" {
		runtime.LockOSThread() // what is asked of the kernel holds for this thread, and for the program that it becomes
		if err := askBeforehand(socket); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	return unix.Exec(qemu, args, os.Environ())
}

var tscRate = regexp.MustCompile(`tsc_early_khz=(\d+)`)

// From linux/seccomp.h and linux/filter.h.
const (
	seccompFilter      = 1      // SECCOMP_SET_MODE_FILTER
	seccompNewListener = 1 << 3 // SECCOMP_FILTER_FLAG_NEW_LISTENER
	seccompNotify      = 0x7fc00000
	seccompAllow       = 0x7fff0000
	notifyReceive      = 0xc0502100
	notifySend         = 0xc0182101
	notifyContinue     = 1
)

// askBeforehand makes the kernel ask somebody at the other end of a socket before each io_setup and io_uring_setup of
// this thread and of what comes of it.
func askBeforehand(socket string) error {
	load := uint16(unix.BPF_LD | unix.BPF_W | unix.BPF_ABS)
	equal := uint16(unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K)
	filter := []unix.SockFilter{
		{Code: load, K: 0}, // the number of the call
		{Code: equal, Jt: 2, K: unix.SYS_IO_SETUP},
		{Code: equal, Jt: 1, K: unix.SYS_IO_URING_SETUP},
		{Code: unix.BPF_RET | unix.BPF_K, K: seccompAllow},
		{Code: unix.BPF_RET | unix.BPF_K, K: seccompNotify},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, seccompFilter, seccompNewListener, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	_, _, err = conn.(*net.UnixConn).WriteMsgUnix([]byte{0}, unix.UnixRights(int(fd)), nil)
	return errors.Join(err, conn.Close())
}

// refusing judges the calls that askBeforehand is about, as a kernel does that has room for so many contexts of native
// aio (fs.aio-max-nr) and none for io_uring (kernel.io_uring_disabled): of this QEMU alone, and of nothing else on the
// host. It returns the socket.
func refusing(t *testing.T, contexts int) (socket string) {
	t.Helper()
	socket = filepath.Join(vmtest.Dir(t), "judge")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); listener.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := listener.AcceptUnix()
			if err != nil {
				return
			}
			if fd, err := received(conn); err == nil {
				judgeCalls(fd, contexts, stop)
			}
		}
	}()
	return socket
}

// received takes a descriptor from a connection.
func received(conn *net.UnixConn) (fd int, err error) {
	defer conn.Close()
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return -1, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return -1, err
	}
	if len(messages) != 1 {
		return -1, errors.New("no descriptor")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return -1, err
	}
	return fds[0], nil
}

// question and answer are struct seccomp_notif and struct seccomp_notif_resp.
type question struct {
	id         uint64
	pid, flags uint32
	call       int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// judgeCalls answers until the process has ended, or the test.
func judgeCalls(fd, contexts int, stop <-chan struct{}) {
	defer unix.Close(fd)
	for {
		select {
		case <-stop:
			return
		default:
		}
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, 200); err != nil && !errors.Is(err, unix.EINTR) || poll[0].Revents&unix.POLLHUP != 0 {
			return
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			continue
		}
		var q question
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifyReceive, uintptr(unsafe.Pointer(&q))); errno != 0 {
			continue
		}
		a := answer{id: q.id, flags: notifyContinue}
		switch {
		case q.call == unix.SYS_IO_URING_SETUP:
			a.flags, a.errno = 0, -int32(unix.EPERM)
		case contexts == 0:
			a.flags, a.errno = 0, -int32(unix.EAGAIN)
		default:
			contexts--
		}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifySend, uintptr(unsafe.Pointer(&a))) // it may be gone meanwhile
	}
}
