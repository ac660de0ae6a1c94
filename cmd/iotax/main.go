// Command iotax measures what virtualization costs a virtual machine's disks.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/iotax/iotax/internal/cli"
	"github.com/iotax/iotax/internal/errkind"
	"github.com/iotax/iotax/internal/sys"
)

func main() { os.Exit(run()) }

// run turns signals into a cancelled context, so that whatever was changed on this host is undone before the
// end. A second signal ends the program at once; `iotax clean` then undoes the rest.
func run() int {
	signal.Ignore(syscall.SIGPIPE) // a closed pager is a write error, not a death that skips the undoing
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)

	world, err := sys.OS()
	if err != nil {
		fmt.Fprintln(os.Stderr, "iotax:", err)
		return int(errkind.Bug)
	}
	return cli.Main(ctx, world)
}
