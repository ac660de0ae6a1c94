#!/bin/sh
# Builds the parts of the lab from Debian packages, for package lab, which names and keeps what comes out.
#
#   build.sh machine DIR   DIR/root.raw, a disk with a Debian that has LVM, ZFS and Xen; DIR/boot and DIR/modules,
#                          which start it
#   build.sh qemu DIR      DIR/tree, the QEMU of another Debian release, and DIR/bin, which runs it on this host
#   build.sh versions PART what the part would be built from, as far as the package lists of this host tell
#
# Packages come from where this host's own apt gets them. Mounts and processes live in namespaces of their own
# and end with this script, however it ends. DIR/log has what the tools say.
set -eu

# The programs of the machine, besides those that it is booted with.
tools='ca-certificates udev kmod procps psmisc iproute2 util-linux fdisk parted e2fsprogs xfsprogs dmsetup lvm2
thin-provisioning-tools fio ioping qemu-system-x86 qemu-utils nbdkit strace'
kernel='linux-image-amd64 linux-headers-amd64'
xen='xen-system-amd64 qemu-system-xen'
zfs='zfs-dkms zfsutils-linux'
size=16G # of the machine's disk; it is sparse
arc=268435456 # bytes that ZFS caches at most: the machine is small

# say WORD...: tell the person who waits.
say() {
	echo "lab: $*" >&3
}

# of_host: this host's release.
of_host() {
	. /etc/os-release
	echo "${VERSION_CODENAME:-}"
}

# other: a release whose QEMU is not the host's.
other() {
	if [ "$(of_host)" = trixie ]; then echo bookworm; else echo trixie; fi
}

# archives: "URI SUITE" of every Debian archive in this host's apt sources.
archives() {
	apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Identifier: Packages' 'Component: main' 'Origin: Debian' | sort -u
}

# mirror: the URI of the archive that has the release itself, whole releases being all in one place.
mirror() {
	archives | awk -v suite="$(of_host)" '$2 == suite { print $1; exit }'
}

versions() {
	if ! command -v apt-get >/dev/null; then
		echo 'the lab is made of Debian packages, and this host has no apt' >&2
		exit 1
	fi
	[ -n "$(mirror)" ] || apt-get update -q >&2 </dev/null # a fresh container has no lists
	if [ -z "$(mirror)" ]; then
		echo 'the lab is made of Debian packages, and apt on this host knows no Debian archive of its own release' >&2
		exit 1
	fi
	case $1 in
	machine)
		of_host
		# shellcheck disable=SC2086 # lists of words are words on purpose
		apt-cache policy $tools $kernel $xen | awk '/^[^ ]/ { name = $1 } /Candidate:/ { print name, $2 }'
		;;
	qemu) other ;;
	esac
}

# bootstrap RELEASE TREE [PACKAGE...]: a minimal Debian with the packages.
bootstrap() {
	release=$1 tree=$2
	shift 2
	command -v debootstrap >/dev/null ||
		env DEBIAN_FRONTEND=noninteractive apt-get install -q -y -o DPkg::Lock::Timeout=300 --no-install-recommends debootstrap </dev/null
	eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
	[ -z "${http_proxy:-}" ] || export http_proxy
	debootstrap --variant=minbase --include="$(echo "ca-certificates $*" | tr ' ' ,)" "$release" "$tree" "$(mirror)"
}

# prepare TREE: let apt work in it as it works here, and quickly.
prepare() {
	archives | while read -r uri suite; do
		echo "deb $uri $suite main contrib"
	done >"$1/etc/apt/sources.list"
	apt-config dump --format '%F "%v";%n' Acquire::http::Proxy Acquire::https::Proxy >"$1/etc/apt/apt.conf.d/90host"
	cp -n /etc/apt/trusted.gpg.d/* "$1/etc/apt/trusted.gpg.d/" || true
	cp /etc/resolv.conf /etc/hosts "$1/etc/"
	printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d" # no service is started
	chmod 755 "$1/usr/sbin/policy-rc.d"
	cat >"$1/etc/dpkg/dpkg.cfg.d/lab" <<-EOT
		force-unsafe-io
		path-exclude=/usr/share/doc/*
		path-exclude=/usr/share/man/*
		path-exclude=/usr/share/locale/*
	EOT
}

# install TREE PACKAGE...
install() {
	tree=$1
	shift
	DEBIAN_FRONTEND=noninteractive INITRD=No LC_ALL=C \
		chroot "$tree" apt-get install -q -y --no-install-recommends "$@" </dev/null
}

# shellcheck disable=SC2086 # lists of words are words on purpose
machine() {
	dir=$1 tree=$1/tree
	say "installing Debian $(of_host) with a kernel, LVM, QEMU and Xen: about two minutes"
	bootstrap "$(of_host)" "$tree"
	prepare "$tree"
	mount --rbind /dev "$tree/dev"
	mount -t proc proc "$tree/proc"
	chroot "$tree" apt-get update -q
	install "$tree" $tools $kernel $xen
	say 'compiling ZFS for its kernel: about four minutes on two processors'
	install "$tree" $zfs
	release=$(basename "$tree"/boot/vmlinuz-* | sed s/vmlinuz-//)
	chroot "$tree" modprobe --show-depends --set-version "$release" zfs || {
		cat "$tree"/var/lib/dkms/zfs/*/build/make.log || true
		echo "there is no zfs module for $release"
		exit 1
	}
	umount -l "$tree/proc" "$tree/dev"
	settle "$tree"
	say 'writing its disk'
	mkdir "$dir/boot" "$dir/modules"
	cp "$tree/boot/vmlinuz-$release" "$dir/boot/vmlinuz"
	zcat "$tree"/boot/xen-*.gz >"$dir/boot/xen"
	(cd "$tree/lib/modules/$release" && cp --parents -r modules.builtin kernel/lib kernel/crypto kernel/arch \
		kernel/fs kernel/net/9p kernel/drivers/virtio kernel/drivers/block kernel/drivers/char "$dir/modules/")
	chroot "$tree" dpkg-query -W >"$dir/packages"
	mke2fs -q -t ext4 -O ^has_journal -L lab -d "$tree" "$dir/root.raw" "$size"
	rm -rf "$tree"
}

# settle TREE: what makes the tree a machine that boots without a service manager.
settle() {
	rm -f "$1"/var/cache/apt/archives/*.deb "$1/usr/sbin/policy-rc.d"
	rm -rf "$1"/var/lib/apt/lists/* "$1"/var/lib/dkms/zfs/*/build
	echo lab >"$1/etc/hostname"
	echo '127.0.0.1 localhost lab' >"$1/etc/hosts"
	: >"$1/etc/resolv.conf"
	rm -f "$1/etc/fstab" && touch "$1/etc/fstab"
	ln -sf /proc/self/mounts "$1/etc/mtab"
	echo "options zfs zfs_arc_max=$arc" >"$1/etc/modprobe.d/lab.conf"
}

qemu() {
	tree=$1/tree
	say "installing the QEMU of Debian $(other): about a minute"
	bootstrap "$(other)" "$tree" qemu-system-x86 qemu-utils
	rm -rf "$tree"/var/cache/apt/archives/*.deb "$tree"/var/lib/apt/lists/* "$tree"/usr/share/doc "$tree"/usr/share/locale
	chroot "$tree" dpkg-query -W >"$1/packages"
	mkdir "$1/bin"
	for name in qemu-system-x86_64 qemu-img qemu-storage-daemon; do
		# The folder of modules is compiled in and looked at last. It is the host's QEMU's, whose modules fit no other.
		LC_ALL=C sed -i 's|/usr/lib/x86_64-linux-gnu/qemu|/usr/lib/x86_64-linux-gnu/none|g' "$tree/usr/bin/$name"
		wrapper "$name" >"$1/bin/$name"
		chmod 755 "$1/bin/$name"
		"$1/bin/$name" --version
	done
}

# wrapper NAME: the text of a program that runs the tree's program of this name on the host's files.
wrapper() {
	cat <<-'EOT'
		#!/bin/sh
		# Runs a program of QEMU from the tree beside this folder with the tree's loader, libraries and modules.
		tree=$(dirname "$(dirname "$(readlink -f "$0")")")/tree
		lib=$tree/usr/lib/x86_64-linux-gnu
		export QEMU_MODULE_DIR="$lib/qemu"
	EOT
	firmware=''
	case $1 in qemu-system-*) firmware='-L "$tree/usr/share/qemu" -L "$tree/usr/share/seabios" ' ;; esac
	echo "exec \"\$tree/lib64/ld-linux-x86-64.so.2\" --library-path \"\$lib\" \"\$tree/usr/bin/$1\" $firmware\"\$@\""
}

# build PART DIR: the part, with what the tools say in DIR/log; of a failure, the end of that is shown.
build() {
	log=$2/log
	exec 3>&1 4>&2 >"$log" 2>&1
	trap 'test $? = 0 || tail -n 40 "$log" >&4' EXIT
	"$1" "$2"
}

case $1 in
versions) versions "$2" ;;
machine | qemu)
	if [ "${LAB_INSIDE:-}" != yes ]; then
		export LAB_INSIDE=yes
		exec unshare --mount --pid --fork --kill-child sh "$0" "$@"
	fi
	build "$@"
	;;
*)
	echo 'usage: build.sh machine DIR | build.sh qemu DIR | build.sh versions machine|qemu' >&2
	exit 2
	;;
esac
