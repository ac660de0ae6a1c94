package jsonout

import "github.com/iotax/iotax/internal/spec"

// Config is a guest stack as it was asked for.
type Config struct {
	Storage      string `json:"storage"`
	Pool         string `json:"pool"`
	ExtentSize   int64  `json:"extent_size_bytes"`
	Stripes      int    `json:"stripes"`
	LVReadAhead  string `json:"lv_read_ahead"`
	ChunkSize    int64  `json:"chunk_size_bytes"`
	Zeroing      string `json:"zeroing"`
	RecordSize   int64  `json:"recordsize_bytes"`
	VolBlockSize int64  `json:"volblocksize_bytes"`
	Compression  string `json:"compression"`
	PrimaryCache string `json:"primarycache"`
	Sync         string `json:"sync"`
	Snapshot     string `json:"snapshot"`
	Empty        bool   `json:"empty"`

	Format        string `json:"format"`
	Preallocation string `json:"preallocation"`
	ClusterSize   int64  `json:"cluster_size_bytes"`
	ExtendedL2    bool   `json:"extended_l2"`
	LazyRefcounts bool   `json:"lazy_refcounts"`
	L2CacheSize   int64  `json:"l2_cache_size_bytes"`
	BackingFile   bool   `json:"backing_file"`

	Protocol     string `json:"protocol"`
	Daemon       string `json:"daemon"`
	Cache        string `json:"cache"`
	AIO          string `json:"aio"`
	IOThread     bool   `json:"iothread"`
	VQMapping    int    `json:"iothread_vq_mapping"`
	Discard      string `json:"discard"`
	DetectZeroes string `json:"detect_zeroes"`
	Backend      string `json:"backend"`

	Bus           string `json:"bus"`
	Queues        int    `json:"queues"`
	QueueSize     int    `json:"queue_size"`
	Scheduler     string `json:"scheduler"`
	ReadAhead     string `json:"read_ahead"`
	Machine       string `json:"machine"`
	CPUs          int    `json:"cpus"`
	Hugepages     int64  `json:"hugepages_bytes"`
	MemoryBackend string `json:"memory_backend"`
	Pinning       string `json:"pinning"`
	Hypervisor    string `json:"hypervisor"`
}

func config(s spec.Stack) *Config {
	return &Config{
		Storage: s.Storage, Pool: s.Pool, ExtentSize: s.ExtentSize, Stripes: s.Stripes, LVReadAhead: s.LVReadAhead,
		ChunkSize: s.ChunkSize, Zeroing: s.Zeroing, RecordSize: s.RecordSize, VolBlockSize: s.VolBlockSize,
		Compression: s.Compression, PrimaryCache: s.PrimaryCache, Sync: s.Sync, Snapshot: s.Snapshot, Empty: s.Empty,
		Format: s.Format, Preallocation: s.Preallocation, ClusterSize: s.ClusterSize, ExtendedL2: s.ExtendedL2,
		LazyRefcounts: s.LazyRefcounts, L2CacheSize: s.L2CacheSize, BackingFile: s.BackingFile,
		Protocol: s.Protocol, Daemon: s.Daemon, Cache: s.Cache, AIO: s.AIO, IOThread: s.IOThread, VQMapping: s.VQMapping,
		Discard: s.Discard, DetectZeroes: s.DetectZeroes, Backend: s.Backend,
		Bus: s.Bus, Queues: s.Queues, QueueSize: s.QueueSize, Scheduler: s.Scheduler, ReadAhead: s.ReadAhead, Machine: s.Machine,
		CPUs: s.CPUs, Hugepages: s.Hugepages, MemoryBackend: s.MemoryBackend, Pinning: s.Pinning, Hypervisor: s.Hypervisor,
	}
}
