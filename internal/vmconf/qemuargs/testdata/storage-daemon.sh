qemu-storage-daemon --blockdev driver=file,node-name=f0,filename=/srv/a.qcow2,cache.direct=on,aio=native \
    --blockdev=driver=qcow2,node-name=q0,file=f0 \
    --object iothread,id=t0 \
    --export type=vhost-user-blk,id=e0,node-name=q0,addr.type=unix,addr.path=/run/e0.sock,writable=on,num-queues=4,iothread=t0
