package doctor

import (
	"io/fs"
	"testing"
)

func TestLibvirtMayOpenKVM(t *testing.T) {
	const passwd = "qemu:x:107:107::/:/sbin/nologin\n"
	for name, tt := range map[string]struct {
		mode          fs.FileMode
		uid, gid      uint32
		passwd, group string
		warns         bool
	}{
		"no such user":      {0o600, 0, 0, "root:x:0:0:root:/root:/bin/sh\n", "", false},
		"everybody":         {0o666, 0, 0, passwd, "", false},
		"owner":             {0o600, 107, 0, passwd, "", false},
		"own group":         {0o660, 0, 107, passwd, "", false},
		"group":             {0o660, 0, 36, passwd, "kvm:x:36:alice,qemu\n", false},
		"not in the group":  {0o660, 0, 36, passwd, "kvm:x:36:alice,qemuX\n", true},
		"group reads only":  {0o640, 0, 36, passwd, "kvm:x:36:qemu\n", true},
		"owner shut out":    {0o066, 107, 0, passwd, "", true},
		"group shut out":    {0o606, 0, 36, passwd, "kvm:x:36:qemu\n", true},
		"unreadable number": {0o660, 0, 1<<32 - 2, "qemu:x:many:107::/:\n", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			f.kvm(tt.mode, tt.uid, tt.gid)
			f.file("etc/passwd", tt.passwd)
			f.file("etc/group", tt.group)
			x := &exam{Deps: f.Deps}
			x.libvirt()
			if warned := len(x.findings) == 1 && x.findings[0].State == Warning; warned != tt.warns || len(x.findings) > 1 {
				t.Errorf("%+v", x.findings)
			}
		})
	}
}
