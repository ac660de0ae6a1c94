// Command iotax-agent is PID 1 of the guest. It is built into iotax and never run by hand.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/iotax/iotax/internal/agent"
)

func main() {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "iotax-agent runs as PID 1 of the guest that iotax boots, nowhere else")
		os.Exit(2)
	}
	agent.Init(context.Background())
}
