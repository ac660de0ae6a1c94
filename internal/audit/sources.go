package audit

// What several rules stand on.
const (
	qemuInvocation = "qemu(1), -drive and -blockdev: https://www.qemu.org/docs/master/system/invocation.html"
	qemuFormats    = "QEMU, disk image formats: https://www.qemu.org/docs/master/system/qemu-block-drivers.html"
	qemuImg        = "qemu-img(1): https://www.qemu.org/docs/master/tools/qemu-img.html"
	qemuCompat     = "QEMU, hw/core/machine.c, properties of old machine types: https://gitlab.com/qemu-project/qemu/-/blob/master/hw/core/machine.c"
	qcow2Cache     = "QEMU, docs/qcow2-cache.txt: https://gitlab.com/qemu-project/qemu/-/blob/master/docs/qcow2-cache.txt"
	libvirtDomain  = "libvirt, domain XML: https://libvirt.org/formatdomain.html"
	libvirtChains  = "libvirt, backing chains: https://libvirt.org/kbase/backing_chains.html"
	proxmoxQM      = "Proxmox VE, QEMU/KVM virtual machines: https://pve.proxmox.com/pve-docs/chapter-qm.html"
	proxmoxDrive   = "Proxmox VE, qemu-server, src/PVE/QemuServer/Drive.pm: https://git.proxmox.com/?p=qemu-server.git"
	blockbridge    = "Blockbridge, low latency storage on Proxmox VE: https://kb.blockbridge.com/technote/proxmox-tuning-low-latency-storage"
	redhatCache    = "Red Hat, virtual disk caching: https://docs.redhat.com/en/documentation/red_hat_enterprise_linux/10/deploy-configuring_virtual_disk_caching"
	redhatNUMA     = "Red Hat, NUMA and libvirt: https://docs.redhat.com/en/documentation/Red_Hat_Enterprise_Linux/6/html/Virtualization_Tuning_and_Optimization_Guide/sect-Virtualization_Tuning_Optimization_Guide-NUMA-NUMA_and_libvirt.html"
	qemuHang       = "QEMU issue 1193, io_uring with an iothread in 7.1.0: https://gitlab.com/qemu-project/qemu/-/issues/1193"
	vqMapping      = "Red Hat Developer, virtio-blk with several iothreads: https://developers.redhat.com/articles/2024/09/05/scaling-virtio-blk-disk-io-iothread-virtqueue-mapping"
	novaAIO        = "OpenStack Nova, native where disks are preallocated: https://specs.openstack.org/openstack/nova-specs/specs/mitaka/implemented/libvirt-aio-mode.html"
	lvmThin        = "lvmthin(7): https://man7.org/linux/man-pages/man7/lvmthin.7.html"
	openzfsZvol    = "OpenZFS, zvols: https://openzfs.github.io/openzfs-docs/Basic%20Concepts/Datasets/ZVOLs.html"
	openzfsTuning  = "OpenZFS, workload tuning: https://openzfs.github.io/openzfs-docs/Performance%20and%20Tuning/Workload%20Tuning.html"
	zfsProps       = "zfsprops(7): https://openzfs.github.io/openzfs-docs/man/master/7/zfsprops.7.html"
	btrfsManual    = "btrfs(5): https://btrfs.readthedocs.io/en/latest/btrfs-man5.html"
	tunedHost      = "tuned, profiles virtual-host and throughput-performance: https://github.com/redhat-performance/tuned/tree/master/profiles"
	sysctlVM       = "Linux, sysctl/vm: https://docs.kernel.org/admin-guide/sysctl/vm.html"
	sysfsBlock     = "Linux, /sys/block: https://docs.kernel.org/block/queue-sysfs.html"
	virtioWin      = "virtio-win, drivers for Windows: https://github.com/virtio-win/kvm-guest-drivers-windows"
)

// What guests need, for the catalogue.
const (
	anyGuest      = "any: the guest does not see it"
	virtioGuests  = "Linux with virtio in its initramfs; Windows after the virtio-win drivers are installed and bound; others where they have virtio drivers"
	flushingGuest = "any that flushes what must last: Linux, Windows and the BSDs of this century do"
)
