package spdk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iotax/iotax/internal/spdk/jsonrpc"
)

// controller is what vhost_get_controllers tells of one.
type controller struct {
	Name   string `json:"ctrlr"`
	Cores  string `json:"cpumask"`
	Socket string `json:"socket"`
}

func (t *Target) controller(ctx context.Context, name string) (controller, error) {
	var list []controller
	if err := t.rpc.Call(ctx, "vhost_get_controllers", map[string]string{"name": name}, &list); err != nil {
		return controller{}, err
	}
	for _, c := range list {
		if c.Name == name {
			return c, nil
		}
	}
	return controller{}, fmt.Errorf("SPDK has no vhost controller %s", name)
}

// How long a deletion is tried while what it names is in use: the guest that used it has ended, but the target only
// learns of that when it looks.
const (
	deleteWait = time.Second
	deletePoll = 10 * time.Millisecond
)

// delete takes one thing away; what is not there is no fault.
func (t *Target) delete(ctx context.Context, m made) error {
	for deadline := time.Now().Add(deleteWait); ; time.Sleep(deletePoll) {
		err := t.rpc.Call(ctx, m.method, m.params, nil)
		if err == nil || jsonrpc.Absent(err) {
			return nil
		}
		if !jsonrpc.Busy(err) || time.Now().After(deadline) {
			return err
		}
	}
}

// refused reports whether the target answered: then what was asked for was not made.
func refused(err error) bool {
	var e *jsonrpc.Error
	return errors.As(err, &e)
}
