package revert

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// target plays one of SPDK's that gives these answers in turn, and returns its socket and what it was asked.
func target(t *testing.T, answers ...string) (socket string, asked func() []string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "rpc")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	var ended sync.WaitGroup
	ended.Go(func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := json.NewDecoder(conn)
		for _, a := range answers {
			var q struct {
				Method string
				ID     int
				Params json.RawMessage
			}
			if in.Decode(&q) != nil {
				return
			}
			heard = append(heard, q.Method+" "+string(q.Params))
			fmt.Fprintf(conn, `{"jsonrpc": "2.0", "id": %d, %s}`, q.ID, a)
		}
	})
	t.Cleanup(func() { l.Close() })
	return socket, func() []string { ended.Wait(); return heard }
}

func TestUndoSPDK(t *testing.T) {
	const (
		done   = `"result": true`
		busy   = `"error": {"code": -32602, "message": "Device or resource busy"}`
		absent = `"error": {"code": -19, "message": "No such device"}`
		wrong  = `"error": {"code": -32603, "message": "Internal error"}`
	)
	for name, tt := range map[string]struct {
		method  string
		answers []string
		want    []string
		fault   string
	}{
		"bdev":   {"bdev_aio_delete", []string{done}, []string{`bdev_aio_delete {"name":"r1-d0"}`}, ""},
		"target": {"vhost_scsi_controller_remove_target", []string{done}, []string{`vhost_scsi_controller_remove_target {"ctrlr":"r1-d0","scsi_target_num":0}`}, ""},
		"busy": {"vhost_delete_controller", []string{busy, done}, []string{
			`vhost_delete_controller {"ctrlr":"r1-d0"}`, `vhost_delete_controller {"ctrlr":"r1-d0"}`,
		}, ""},
		"never made": {"bdev_uring_delete", []string{absent}, []string{`bdev_uring_delete {"name":"r1-d0"}`}, ""},
		"fault":      {"bdev_null_delete", []string{wrong}, []string{`bdev_null_delete {"name":"r1-d0"}`}, "Internal error"},
	} {
		t.Run(name, func(t *testing.T) {
			socket, asked := target(t, tt.answers...)
			a := SPDK(socket, tt.method, "r1-d0")
			if err := validSPDK("r1", a.Args); err != nil {
				t.Error(err)
			}
			err := undoSPDK(t.Context(), "r1", a.Args)
			if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("undo = %v, want %q", err, tt.fault)
			}
			if diff := cmp.Diff(tt.want, asked()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
	if err := undoSPDK(t.Context(), "r1", SPDK(filepath.Join(t.TempDir(), "gone"), "bdev_aio_delete", "r1-d0").Args); err != nil {
		t.Errorf("a target that is gone: %v", err)
	}
}

func TestSPDKRefuses(t *testing.T) {
	for name, a := range map[string]Act{
		"another's":         SPDK("/rpc", "bdev_aio_delete", "r2-d0"),
		"no name":           SPDK("/rpc", "bdev_aio_delete", "Nvme0n1"),
		"another method":    SPDK("/rpc", "bdev_nvme_detach_controller", "r1-d0"),
		"a name that grows": SPDK("/rpc", "vhost_delete_controller", "r10-d0"),
	} {
		if err := validSPDK("r1", a.Args); err == nil {
			t.Errorf("%s: %s is accepted", name, a)
		}
	}
}
