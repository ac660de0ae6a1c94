#!/bin/sh
# Installs what iotax needs on this host and what is not there yet: QEMU for x86, qemu-img, fio. It tries to install
# ioping too, without which iotax measures all the same, and the programs that its arguments name: the tests' wishes.
# Running it again does nothing. Without root, or without a package manager that it knows, it says exactly
# what to install and exits with 2. The guest's kernel is no concern of this script: iotax fetches it itself.
set -eu

needed='qemu-system-x86_64 qemu-img fio'
optional="ioping${*:+ $*}"

# package MANAGER TOOL: the package that has the tool.
package() {
	case "$1/$2" in
	apt-get/qemu-system-x86_64) echo qemu-system-x86 ;;
	apt-get/qemu-img) echo qemu-utils ;;
	apt-get/virt-xml-validate) echo libvirt-clients ;;
	apt-get/xmllint) echo libxml2-utils ;;
	dnf/qemu-system-x86_64) echo qemu-system-x86-core ;;
	dnf/virt-xml-validate) echo libvirt-client ;;
	dnf/xmllint) echo libxml2 ;;
	pacman/qemu-system-x86_64) echo qemu-system-x86 ;;
	pacman/virt-xml-validate) echo libvirt ;;
	pacman/xmllint) echo libxml2 ;;
	zypper/qemu-system-x86_64) echo qemu-x86 ;;
	zypper/virt-xml-validate) echo libvirt-client ;;
	zypper/xmllint) echo libxml2-tools ;;
	apk/qemu-system-x86_64) echo qemu-system-x86_64 ;;
	apk/virt-xml-validate) echo libvirt-client ;;
	apk/xmllint) echo libxml2-utils ;;
	*) echo "$2" ;;
	esac
}

# has TOOL: whether the tool can be run.
has() {
	command -v "$1" >/dev/null 2>&1
}

# missing TOOL...: those that are not there, on one line.
missing() {
	list=''
	for tool in "$@"; do
		has "$tool" || list="$list${list:+ }$tool"
	done
	echo "$list"
}

# manager: the package manager of this host, nothing when none is known.
manager() {
	for name in apt-get dnf pacman zypper apk; do
		if has "$name"; then
			echo "$name"
			return
		fi
	done
}

# install_command MANAGER: the command line that installs, without the names of packages.
install_command() {
	case "$1" in
	apt-get) echo 'env DEBIAN_FRONTEND=noninteractive apt-get install -y -o DPkg::Lock::Timeout=300 --no-install-recommends' ;; # a fresh machine may be updating itself
	dnf) echo 'dnf install -y' ;;
	pacman) echo 'pacman -S --needed --noconfirm' ;;
	zypper) echo 'zypper --non-interactive install' ;;
	apk) echo 'apk add' ;;
	esac
}

# root_prefix: what to put before a command that needs root; fails when root cannot be had without asking.
root_prefix() {
	if [ "$(id -u)" -eq 0 ]; then
		return 0
	fi
	if has sudo && sudo -n true 2>/dev/null; then
		echo 'sudo -n'
		return 0
	fi
	return 1
}

# command MANAGER TOOL...: the command line that installs the tools.
command_for() {
	line=$(install_command "$1")
	for tool in "$@"; do
		[ "$tool" = "$1" ] || line="$line $(package "$1" "$tool")"
	done
	echo "$line"
}

# give_up: the end when tools that are needed cannot be had; without an optional one there is no fault.
give_up() {
	[ -n "$absent" ] && exit 2
	echo "setup: not installed, and not needed: $wished"
	exit 0
}

# shellcheck disable=SC2086 # lists of words are words on purpose
main() {
	if [ "$(uname -s)" != Linux ] || [ "$(uname -m)" != x86_64 ]; then
		echo "setup: iotax measures on Linux on x86-64; this is $(uname -s) on $(uname -m)" >&2
		exit 2
	fi
	if ! has "${GO:-go}"; then
		echo 'setup: Go is not installed; get it from https://go.dev/dl/' >&2
		exit 2
	fi
	absent=$(missing $needed)
	wished=$(missing $optional)
	if [ -z "$absent$wished" ]; then
		echo "setup: all there: $needed $optional"
		exit 0
	fi
	[ -z "$absent" ] || echo "setup: missing: $absent" >&2
	manager=$(manager)
	if [ -z "$manager" ]; then
		echo 'setup: no package manager that is known here (apt-get, dnf, pacman, zypper, apk); please install these programs by hand' >&2
		give_up
	fi
	if ! prefix=$(root_prefix); then
		[ -z "$absent" ] || {
			echo 'setup: installing needs root; run this, then try again:' >&2
			echo "  sudo $(command_for "$manager" $absent)" >&2
		}
		give_up
	fi
	if [ "$manager" = apt-get ]; then
		echo "setup: $prefix apt-get update"
		$prefix apt-get update -q </dev/null || echo 'setup: the package lists could not be renewed, trying with those that are there' >&2
	fi
	if [ -n "$absent" ]; then
		command=$(command_for "$manager" $absent)
		echo "setup: $prefix $command"
		$prefix $command </dev/null || {
			echo "setup: that failed; the programs still needed are: $(missing $needed)" >&2
			exit 2
		}
		absent=$(missing $needed)
		if [ -n "$absent" ]; then
			echo "setup: the packages are installed and yet these programs are not there: $absent" >&2
			exit 2
		fi
	fi
	for tool in $wished; do # each by itself: some distributions do not have it, and nothing depends on it
		command=$(command_for "$manager" "$tool")
		echo "setup: $prefix $command"
		$prefix $command </dev/null || true
	done
	wished=$(missing $wished)
	[ -z "$wished" ] || give_up
	echo "setup: installed; nothing more is missing"
}

main "$@"
