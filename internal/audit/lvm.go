package audit

import (
	"fmt"

	"github.com/iotax/iotax/internal/unit"
)

const (
	smallChunk   = 64 << 10 // of a thin pool: the least that LVM has
	nearlyFull   = 0.9      // of a pool's data or metadata
	longAhead    = 4 << 20
	usualAhead   = 128 << 10
	sectorOfLVM  = 512 // in which lvchange counts read-ahead
	betterChunks = "256k"
)

var lvmRules = []Rule{{
	ID: "IOT043", Title: "thin pool with small chunks", Severity: SmallLoss, Restart: RestartPowerCycle, Guests: anyGuest,
	Looks:   "a thin volume in a pool with chunks of 64 KiB.",
	Why:     "Each chunk is found and entered in the pool's tree when it is first written: small ones make more of it, and fill the metadata sooner. They are right where volumes have many snapshots.",
	Sources: []string{lvmThin, "Harvester, chunk size: https://github.com/harvester/docs/pull/1083"},
	disk: func(d disk) []Finding {
		v := d.volume.LV
		if v == nil || !v.Thin || v.Chunk == 0 || v.Chunk > smallChunk {
			return nil
		}
		f := d.below("chunk_size", unit.Bytes(v.Chunk), "%s/%s finds room in pieces of %s", v.Group, v.Pool, unit.Bytes(v.Chunk)).
			run("lvcreate", "--type", "thin-pool", "--chunksize", betterChunks, "--size", "SIZE", "--name", v.Pool+"-new", v.Group)
		return one(f.needs("a new pool, to which volumes are copied: the size of chunks is fixed when a pool is made"))
	},
}, {
	ID: "IOT044", Title: "thin pool that zeroes chunks", Severity: SmallLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a thin volume in a pool with zeroing on and chunks larger than 64 KiB.",
	Why:     "The first write to a chunk, however small, waits until all of it has been written with zeros.",
	Sources: []string{lvmThin, "Harvester, zeroing: https://github.com/harvester/docs/pull/1075"},
	disk: func(d disk) []Finding {
		v := d.volume.LV
		if v == nil || !v.Thin || v.Zero == nil || !*v.Zero || v.Chunk <= smallChunk {
			return nil
		}
		f := d.below("zero", "on", "a first write of 4 KiB writes %s of zeros", unit.Bytes(v.Chunk)).
			run("lvchange", "--zero", "n", v.Group+"/"+v.Pool)
		return one(f.needs("all guests of the pool trust each other: without zeroing one can read what another's volumes left"))
	},
}, {
	ID: "IOT045", Title: "thin pool nearly full", Severity: DataAtRisk, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a thin volume in a pool whose data or metadata are nine tenths full.",
	Why:     "When either is full, writes of all its volumes wait and then fail, and a full metadata volume can need a repair.",
	Sources: []string{lvmThin},
	disk: func(d disk) []Finding {
		v := d.volume.LV
		if v == nil || !v.Thin {
			return nil
		}
		pool := v.Group + "/" + v.Pool
		switch {
		case v.Metadata != nil && *v.Metadata >= nearlyFull:
			return one(d.below("metadata_percent", share(*v.Metadata), "the metadata of %s are %s full", pool, share(*v.Metadata)).
				run("lvextend", "--poolmetadatasize", "+1g", pool))
		case v.Data != nil && *v.Data >= nearlyFull:
			return one(d.below("data_percent", share(*v.Data), "%s is %s full", pool, share(*v.Data)).
				run("lvextend", "--extents", "+100%FREE", pool))
		}
		return nil
	},
}, {
	ID: "IOT046", Title: "volume with thick snapshots", Severity: LargeLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a thick logical volume of which there are snapshots, or which is one.",
	Why:     "The first write to a piece of the volume copies it to each snapshot before it is done: one write is three, and a snapshot that is full becomes invalid.",
	Sources: []string{"lvcreate(8), --snapshot: https://man7.org/linux/man-pages/man8/lvcreate.8.html"},
	disk: func(d disk) []Finding {
		v := d.volume.LV
		if v == nil || v.Thin || v.Origin == "" && len(v.Snapshots) == 0 {
			return nil
		}
		if v.Origin != "" {
			f := d.below("origin", v.Origin, "it is a snapshot of %s: each first write copies what was there", v.Origin)
			return one(f.needs("a volume of its own, made by copying"))
		}
		f := d.below("snapshots", fmt.Sprint(len(v.Snapshots)), "each first write is copied to %s first", list(v.Snapshots))
		for _, name := range v.Snapshots {
			f = f.run("lvremove", v.Group+"/"+name)
		}
		return one(f.needs("nobody wants to go back to them"))
	},
}, {
	ID: "IOT047", Title: "read-ahead of a logical volume", Severity: SmallLoss, Restart: RestartNothing, Guests: anyGuest,
	Looks:   "a logical volume read through the host's page cache whose read-ahead is off, or 4 MiB or more. With O_DIRECT there is no read-ahead, and it is left alone.",
	Why:     "Without it, reading in order waits for every request; with far too much, each read at random that looks orderly reads megabytes.",
	Sources: []string{"lvchange(8), --readahead: https://man7.org/linux/man-pages/man8/lvchange.8.html", sysfsBlock},
	disk: func(d disk) []Finding {
		v := d.volume.LV
		if v == nil || v.ReadAhead == nil || !d.buffered() || *v.ReadAhead > 0 && *v.ReadAhead < longAhead {
			return nil
		}
		f := d.below("read_ahead", unit.Bytes(*v.ReadAhead), "the page cache reads %s ahead of the guest", unit.Bytes(*v.ReadAhead))
		return one(f.run("lvchange", "--readahead", fmt.Sprint(usualAhead/sectorOfLVM), v.Group+"/"+v.Name))
	},
}}

func share(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
