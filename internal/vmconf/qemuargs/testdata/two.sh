#!/bin/bash
# starts a build guest and a database guest; -drive in a comment is none
set -e
QEMU=/usr/bin/qemu-system-x86_64
IMAGES=/srv/images
CACHE=none
COMMON=(
    -machine q35,accel=kvm   # both alike
    -cpu host
    -nodefaults
)

build_args=(
    -name build -m 4G -smp 4
    -drive "file=$IMAGES/build.qcow2,if=virtio,format=qcow2,cache=$CACHE,aio=native"
)
if [ -n "$SCRATCH" ]; then
    build_args+=(-drive file="$SCRATCH",if=virtio,format=raw)
fi

start_db() {
    local extra="-object iothread,id=io1 -device virtio-blk-pci,drive=data,iothread=io1"
    sudo taskset -c 2,3 "$QEMU" "${COMMON[@]}" \
        -name 'guest=db,debug-threads=on' -m size=8192 -smp cpus=2 \
        -blockdev '{"driver":"host_device","filename":"/dev/vg0/db","node-name":"db-file","cache":{"direct":true},"discard":"unmap"}' \
        -blockdev driver=raw,node-name=data,file=db-file,discard=unmap \
        $extra "$@" >/var/log/db.log 2>&1 &
}

$QEMU "${COMMON[@]}" "${build_args[@]}" -device virtio-rng-pci
start_db
cat > /tmp/third.sh <<-'END'
	exec qemu-system-x86_64 -m 512 -hda /srv/it's.img -cdrom boot.iso
	END
echo "$QEMU -hda none"
