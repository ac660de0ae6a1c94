package doctor

import "github.com/iotax/iotax/internal/hostenv"

// install is the command that gives this host a program.
func (d Deps) install(program string) string { return hostenv.InstallCommand(d.LookPath, program) }
