package spec

import "slices"

// Stack is one way of giving a guest a disk. Empty strings and zeros mean the default of the program whose word it is,
// spelled out by Complete where that is the same everywhere.
type Stack struct {
	Name  string `json:"name"`
	Title string `json:"title"`          // for a person
	Role  string `json:"role,omitempty"` // "", "virt-manager", "proxmox" (the usual defaults), "ceiling" (shown apart)

	// Where the bytes lie.
	Storage      string `json:"storage,omitempty"`       // one of Storages, "" = file
	Pool         string `json:"pool,omitempty"`          // volume group, "group/thin pool", ZFS pool or dataset that exists; "" = one made for the run
	ExtentSize   int64  `json:"extent_size,omitempty"`   // lvm, lvm-thin: bytes, 0 = 4 MiB
	Stripes      int    `json:"stripes,omitempty"`       // lvm: physical volumes that a volume is striped over, 0 = 1
	LVReadAhead  string `json:"lv_read_ahead,omitempty"` // lvm, lvm-thin: "auto", "none" or a size
	ChunkSize    int64  `json:"chunk_size,omitempty"`    // lvm-thin: bytes, 0 = 64 KiB
	Zeroing      string `json:"zeroing,omitempty"`       // lvm-thin: "on" or "off", "" = on
	RecordSize   int64  `json:"recordsize,omitempty"`    // zfs-file: bytes, 0 = 128 KiB
	VolBlockSize int64  `json:"volblocksize,omitempty"`  // zvol: bytes, 0 = OpenZFS's default
	Compression  string `json:"compression,omitempty"`   // zfs-file, zvol: "off", "lz4", "zstd", "" = off
	PrimaryCache string `json:"primarycache,omitempty"`  // zfs-file, zvol: "all", "metadata", "none", "" = all
	Sync         string `json:"sync,omitempty"`          // zfs-file, zvol: "standard", "always", "disabled", "" = standard
	Snapshot     string `json:"snapshot,omitempty"`      // one of Snapshots: of lvm, lvm-thin or inside qcow2
	Empty        bool   `json:"empty,omitempty"`         // discarded before every window: each first write allocates, and nothing is read

	// The image.
	Format        string `json:"format"`                   // one of Formats
	Preallocation string `json:"preallocation,omitempty"`  // qcow2: off, metadata, falloc, full; raw file: off, falloc, full
	ClusterSize   int64  `json:"cluster_size,omitempty"`   // qcow2: bytes, 0 = 64 KiB
	ExtendedL2    bool   `json:"extended_l2,omitempty"`    // qcow2: 32 subclusters in a cluster
	LazyRefcounts bool   `json:"lazy_refcounts,omitempty"` // qcow2
	L2CacheSize   int64  `json:"l2_cache_size,omitempty"`  // qcow2: bytes, 0 = QEMU's default
	BackingFile   bool   `json:"backing_file,omitempty"`   // qcow2: an overlay that is empty at first, over a filled image

	// The hypervisor's side.
	Protocol     string `json:"protocol,omitempty"` // one of Protocols, "" = QEMU opens the file or device itself
	Daemon       string `json:"daemon,omitempty"`   // one of Daemons: who serves a disk over NBD or vhost-user, or does its I/O on the host
	Cache        string `json:"cache"`              // one of Caches
	AIO          string `json:"aio"`                // one of AIOs
	IOThread     bool   `json:"iothread,omitempty"`
	VQMapping    int    `json:"iothread_vq_mapping,omitempty"` // iothreads that the queues are spread over, 0 = no mapping
	Discard      string `json:"discard,omitempty"`             // one of Discards
	DetectZeroes string `json:"detect_zeroes,omitempty"`       // one of Detects
	Backend      string `json:"backend,omitempty"`             // one of Backends: Xen's, "" = phy

	// The controller and the guest.
	Bus           string `json:"bus"`                      // one of Buses
	Queues        int    `json:"queues,omitempty"`         // num-queues, 0 = QEMU's default
	QueueSize     int    `json:"queue_size,omitempty"`     // 0 = QEMU's default
	Scheduler     string `json:"scheduler,omitempty"`      // one of Schedulers, in the guest; "" = the guest's default
	ReadAhead     string `json:"read_ahead,omitempty"`     // in the guest: "none" or a size, "" = the guest's default
	Machine       string `json:"machine,omitempty"`        // one of Machines, "" = whatever the boot has
	CPUs          int    `json:"cpus,omitempty"`           // of this stack's guest, 0 = Experiment.Guest's, and so below
	Hugepages     int64  `json:"hugepages,omitempty"`      // bytes
	MemoryBackend string `json:"memory_backend,omitempty"` //
	Pinning       string `json:"pinning,omitempty"`        //
	Hypervisor    string `json:"hypervisor,omitempty"`     //
}

// Ceiling reports whether the stack is a disk of zero latency, shown apart and never ranked.
func (s Stack) Ceiling() bool { return s.Format == "null-co" || s.InsideGuest() }

// Xen reports whether the stack's guest is a domain of Xen.
func (s Stack) Xen() bool { return s.Hypervisor != "" }

// OnHost reports whether the load runs on the host itself, straight on the stack's volume or through a program of QEMU's
// that has it open: what a disk costs without a guest in front of it.
func (s Stack) OnHost() bool { return s.Bus == "host" }

// Plain reports whether the load runs on the host straight on the stack's volume, as that of the baseline does on its own.
func (s Stack) Plain() bool { return s.OnHost() && s.Protocol == "" && s.Daemon == "" }

// Bench reports whether the load is made by qemu-img bench: QEMU's block layer with nothing in front of it.
func (s Stack) Bench() bool { return s.OnHost() && s.Daemon == "qemu-img" }

// InsideGuest reports whether the disk is one of the guest's own kernel, with no virtual hardware under it.
func (s Stack) InsideGuest() bool { return s.Bus == "null_blk" }

// BlockLayer reports whether a program of QEMU's has the volume open, so that there is a cache mode and an aio.
func (s Stack) BlockLayer() bool { return !s.Xen() && !s.Plain() && !s.InsideGuest() }

// Skips says why the stack is not measured under a workload, "" when it is.
func (s Stack) Skips(w Workload) string {
	switch {
	case s.Empty && w.Reads():
		return "the volume is empty before each window: there is nothing to read"
	case s.Bench():
		return benchSkips(w)
	case s.OnHost() && s.Protocol == "nbd" && w.Ioping():
		return "ioping does not speak NBD"
	}
	return ""
}

// benchSkips says what of a workload qemu-img bench cannot do: its manual has one direction, one block size, one queue and
// offsets in steps.
func benchSkips(w Workload) string {
	const cannot = "qemu-img bench has no "
	switch {
	case w.Ioping():
		return "qemu-img bench makes its own load, not ioping"
	case w.mixed():
		return cannot + "mix of reads and writes"
	case w.Jobs() > 1:
		return cannot + "second job"
	case w.BSSplit != "":
		return cannot + "mix of block sizes"
	case w.PercentageRandom != "" || w.BlockAlign != 0:
		return cannot + "choice of offsets"
	case w.ThinkTime != 0:
		return cannot + "waits between its I/Os"
	case w.Held():
		return cannot + "limit to its rate"
	case w.FDataSync > 0 && w.FDataSync < w.IODepth:
		return "qemu-img bench flushes after as many writes as are in flight, at the earliest"
	}
	return ""
}

// VhostUser reports whether another process than QEMU serves the stack's queues.
func (s Stack) VhostUser() bool { return s.Bus == "vhost-user-blk" || s.Bus == "vhost-user-scsi" }

// Served names the daemon that has the volume open in QEMU's place, "" when QEMU or Xen has it open itself.
func (s Stack) Served() string {
	switch {
	case s.Bench(): // it serves nobody
	case s.Daemon != "":
		return s.Daemon
	case s.Bus == "vhost-user-scsi":
		return "spdk"
	case s.Bus == "vhost-user-blk" || s.Protocol == "nbd":
		return "qemu-storage-daemon"
	}
	return ""
}

// File reports whether the volume is a file, as images need.
func (s Stack) File() bool { return s.PlainFile() || s.Storage == "zfs-file" }

// PlainFile reports whether the volume is a file of the scratch folder.
func (s Stack) PlainFile() bool { return s.Storage == "" || s.Storage == "file" }

// Compresses reports whether the storage of any stack compresses what it is given.
func (e Experiment) Compresses() bool {
	return slices.ContainsFunc(e.Stacks, func(s Stack) bool { return s.Compression != "" && s.Compression != "off" })
}

// GuestOf is the virtual machine that a stack needs: the experiment's, with what the stack says otherwise.
func (e Experiment) GuestOf(s Stack) Guest {
	g := e.Guest
	g.Hypervisor = s.Hypervisor
	if s.CPUs != 0 {
		g.CPUs = s.CPUs
	}
	if s.Hugepages != 0 {
		g.Hugepages = s.Hugepages
	}
	if s.MemoryBackend != "" {
		g.MemoryBackend = s.MemoryBackend
	}
	if s.Pinning != "" {
		g.Pinning = s.Pinning
	}
	return g
}
