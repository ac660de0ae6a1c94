package revert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/iotax/iotax/internal/spdk/jsonrpc"
)

// spdkDeletions are the methods that undo what iotax makes in a target of SPDK: method -> its parameter for the name.
var spdkDeletions = map[string]string{
	"bdev_aio_delete":                     "name",
	"bdev_uring_delete":                   "name",
	"bdev_null_delete":                    "name",
	"vhost_delete_controller":             "ctrlr",
	"vhost_scsi_controller_remove_target": "ctrlr",
}

// SPDK undoes what was made in the target of SPDK that listens at socket, by one of the methods that delete. Its name
// begins with the run's and a dash, so that nothing else can be meant. A target that is gone has nothing left.
func SPDK(socket, method, name string) Act {
	return Act{"spdk", map[string]string{"socket": socket, "method": method, "name": name}}
}

func validSPDK(run string, args map[string]string) error {
	if !strings.HasPrefix(args["name"], run+"-") {
		return fmt.Errorf("revert: refused: %q in SPDK is not named after run %s", args["name"], run)
	}
	if _, ok := spdkDeletions[args["method"]]; !ok {
		return fmt.Errorf("revert: refused: SPDK's method %q deletes nothing of ours", args["method"])
	}
	return nil
}

func undoSPDK(ctx context.Context, _ string, args map[string]string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalWait)
	defer cancel()
	c, err := jsonrpc.Dial(ctx, args["socket"])
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	} else if err != nil {
		return err
	}
	defer c.Close()
	params := map[string]any{spdkDeletions[args["method"]]: args["name"]}
	if args["method"] == "vhost_scsi_controller_remove_target" {
		params["scsi_target_num"] = 0
	}
	for deadline := time.Now().Add(politeWait); ; time.Sleep(poll) {
		err := c.Call(ctx, args["method"], params, nil)
		if err == nil || jsonrpc.Absent(err) {
			return nil
		}
		// A guest that was just ended may hold it for a moment: SPDK polls its connections.
		if !jsonrpc.Busy(err) || time.Now().After(deadline) {
			return err
		}
	}
}
