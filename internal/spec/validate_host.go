package spec

// checkOnHost refuses what a load on the host itself does not have: a guest, a controller and, where no program of QEMU's
// is between, QEMU's block layer.
func checkOnHost(f *faults, path string, s Stack) {
	if !s.OnHost() {
		return
	}
	for _, key := range keysOf(map[string]bool{
		"iothread": s.IOThread, "iothread_vq_mapping": s.VQMapping != 0, "queues": s.Queues != 0, "queue_size": s.QueueSize != 0,
		"scheduler": s.Scheduler != "", "read_ahead": s.ReadAhead != "", "machine": s.Machine != "", "cpus": s.CPUs != 0,
		"hugepages": s.Hugepages != 0, "memory_backend": s.MemoryBackend != "", "pinning": s.Pinning != "",
		"empty": s.Empty, // a discard inside the guest empties volumes
	}) {
		f.add(path+"."+key, "is a guest's, and this load runs on the host%s; expected none", ref(path+".bus"))
	}
	if s.Role == "virt-manager" || s.Role == "proxmox" {
		f.add(path+".role", "%q is a guest's disk, and this load runs on the host%s; expected none", s.Role, ref(path+".bus"))
	}
	checkHostProgram(f, path, s)
	if s.Plain() {
		checkPlain(f, path, s)
	}
	if s.Bench() {
		checkBench(f, path, s)
	}
}

// checkHostProgram checks who has the volume open on the host: fio itself, qemu-img, or the server of an NBD export.
func checkHostProgram(f *faults, path string, s Stack) {
	switch {
	case s.Daemon == "spdk":
		f.add(path+".daemon", "\"spdk\" serves guests only; expected qemu-img, or qemu-storage-daemon with protocol nbd")
	case s.Daemon == "qemu-img" && s.Protocol != "":
		f.add(path+".protocol", "qemu-img%s opens the volume itself; expected none", ref(path+".daemon"))
	case s.Daemon == "qemu-storage-daemon" && s.Protocol == "":
		f.add(path+".daemon", "\"qemu-storage-daemon\" is reached over NBD; expected protocol nbd beside it")
	case s.Protocol != "" && s.Ceiling():
		f.add(path+".protocol", "a disk of no latency%s is not served; expected none", ref(path+".format"))
	}
}

// checkPlain refuses what is QEMU's of a volume that fio itself opens, always with direct I/O.
func checkPlain(f *faults, path string, s Stack) {
	for _, key := range keysOf(map[string]bool{
		"cache": s.Cache != "", "aio": s.AIO != "", "discard": s.Discard != "", "detect_zeroes": s.DetectZeroes != "",
	}) {
		f.add(path+"."+key, "is QEMU's, and nothing of QEMU's is in this load's way%s; expected none, or daemon qemu-img", ref(path+".bus"))
	}
	if s.Format == "qcow2" || s.Format == "null-co" {
		f.add(path+".format", "%q is QEMU's, and nothing of QEMU's is in this load's way%s; expected raw, or daemon qemu-img", s.Format, ref(path+".bus"))
	}
}

// checkBench refuses what qemu-img bench would measure wrongly.
func checkBench(f *faults, path string, s Stack) {
	if s.Format == "qcow2" && s.Snapshot == "fresh" {
		f.add(path+".snapshot", "\"fresh\" is renewed by a running QEMU, and qemu-img%s runs for one window only; expected copied", ref(path+".daemon"))
	}
	if s.Compression != "" && s.Compression != "off" {
		f.add(path+".compression", "qemu-img bench%s writes one byte over and over, which compresses to nothing; expected off", ref(path+".daemon"))
	}
}

// checkInsideGuest refuses what a disk of the guest's own kernel does not have.
func checkInsideGuest(f *faults, path string, s Stack) {
	if !s.InsideGuest() {
		return
	}
	if s.Format != "" && s.Format != "null-co" {
		f.add(path+".format", "bus \"null_blk\"%s is a disk of no latency; expected format null-co", ref(path+".bus"))
	}
	for _, key := range keysOf(map[string]bool{
		"cache": s.Cache != "", "aio": s.AIO != "", "discard": s.Discard != "", "detect_zeroes": s.DetectZeroes != "",
		"protocol": s.Protocol != "", "daemon": s.Daemon != "", "iothread": s.IOThread, "iothread_vq_mapping": s.VQMapping != 0,
		"queues": s.Queues != 0, "queue_size": s.QueueSize != 0,
	}) {
		f.add(path+"."+key, "is of virtual hardware, and bus \"null_blk\"%s has none under it; expected none", ref(path+".bus"))
	}
}
