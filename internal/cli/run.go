package cli

import "github.com/spf13/cobra"

func (a *app) runCmd() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [RUN]",
		Short: "Measure: boot a guest and compare its disks with the host's",
		Long: `run measures an experiment, prints the table and stores every window as it ends. Without flags it takes the
preset "default", at most a quarter of an hour once the guest is set up. Ctrl-C ends it within two seconds,
undoes everything and keeps what was measured; --resume goes on from there.

RUN names a stored run and goes with --resume only.`,
		Example: `  # the short one, on a scratch file
  iotax run --quick

  # what the default would do: boots, rounds, cells, space and time; nothing is touched
  iotax run --plan

  # again with the same order and the same offsets, for a machine to read
  iotax run --preset default --seed 41 --json result.json --quiet

  # on the file system that holds the virtual machines, politely
  iotax run --scratch /var/lib/libvirt/images --size 4G --polite

  # as long as it takes to find a difference of 10 %; the plan says how long
  iotax run --quick --detect 10% --plan

  # at the end, also the most IOPS that keep a p99 latency of 5 ms
  iotax run --sla p99=5ms

  # go on with the last run that ended early
  iotax run --resume`,
		Args:              atMost(1, "RUN"),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(a, cmd, args)
			if err != nil {
				return err
			}
			return a.measure(cmd.Context(), o)
		},
	}
	f.register(cmd, presetNames)
	return cmd
}
