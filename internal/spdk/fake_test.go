package spdk_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// fakeEnv makes the test binary play spdk_tgt. Its value is a list of what is wrong with that target.
const fakeEnv = "SPDK_TEST_FAKE"

// schema is the part of SPDK's published JSON-RPC that iotax uses: method -> parameters and whether each may be left
// out. SPDK refuses parameters that it does not know.
var schema = map[string]map[string]bool{
	"framework_wait_init":                 {},
	"spdk_get_version":                    {},
	"rpc_get_methods":                     {"current": true, "include_aliases": true},
	"bdev_aio_create":                     {"name": false, "filename": false, "block_size": true, "readonly": true, "fallocate": true, "uuid": true},
	"bdev_aio_delete":                     {"name": false},
	"bdev_uring_create":                   {"name": false, "filename": false, "block_size": true, "uuid": true},
	"bdev_uring_delete":                   {"name": false},
	"bdev_null_create":                    {"name": false, "block_size": false, "num_blocks": false, "uuid": true, "md_size": true},
	"bdev_null_delete":                    {"name": false},
	"bdev_get_bdevs":                      {"name": true, "timeout": true},
	"vhost_create_blk_controller":         {"ctrlr": false, "dev_name": false, "cpumask": true, "readonly": true, "transport": true},
	"vhost_create_scsi_controller":        {"ctrlr": false, "cpumask": true, "delay": true},
	"vhost_scsi_controller_add_target":    {"ctrlr": false, "scsi_target_num": false, "bdev_name": false},
	"vhost_scsi_controller_remove_target": {"ctrlr": false, "scsi_target_num": false},
	"vhost_delete_controller":             {"ctrlr": false},
	"vhost_get_controllers":               {"name": true},
}

// fake is a target of SPDK in one process: it really opens what it is given and really listens.
type fake struct {
	mu          sync.Mutex
	wrong       []string
	vhost, mask string
	bdevs       map[string]*fakeBdev
	controllers map[string]*fakeController
}

type fakeBdev struct {
	product        string
	file           *os.File
	blocks, size   int64
	flush, claimed bool
}

type fakeController struct {
	socket net.Listener
	bdev   string // of a block controller
	target string // bdev of a SCSI controller's target 0
	scsi   bool
}

type fakeError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// playTarget never returns.
func playTarget(wrong string, args []string) {
	f := fake{wrong: strings.Split(wrong, ","), bdevs: map[string]*fakeBdev{}, controllers: map[string]*fakeController{}}
	option := func(name string) string { return args[slices.Index(args, name)+1] }
	f.vhost, f.mask = option("-S"), option("-m")
	if f.is("no-memory") {
		fmt.Fprintln(os.Stderr, "EAL: Not enough memory available! Requested: 1024MB, available: 0MB")
		os.Exit(1)
	}
	l, err := net.Listen("unix", option("-r"))
	if err != nil {
		panic(err)
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() { <-term; os.Exit(0) }()
	for {
		conn, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go f.converse(conn)
	}
}

func (f *fake) is(wrong string) bool { return slices.Contains(f.wrong, wrong) }

// converse answers in two pieces, as a busy target may.
func (f *fake) converse(conn net.Conn) {
	defer conn.Close()
	in := json.NewDecoder(conn)
	for {
		var q struct {
			Method string
			ID     int64
			Params map[string]any
		}
		if in.Decode(&q) != nil {
			return
		}
		reply := map[string]any{"jsonrpc": "2.0", "id": q.ID}
		f.mu.Lock()
		result, fault := f.call(q.Method, q.Params)
		f.mu.Unlock()
		if fault != nil {
			reply["error"] = fault
		} else {
			reply["result"] = result
		}
		text, _ := json.MarshalIndent(reply, "", "  ")
		_, _ = conn.Write(text[:len(text)/2])
		_, _ = conn.Write(text[len(text)/2:])
	}
}

func (f *fake) call(method string, params map[string]any) (any, *fakeError) {
	known, ok := schema[method]
	if !ok || f.is("without "+method) {
		return nil, &fakeError{-32601, "Method not found"}
	}
	for name := range params {
		if _, ok := known[name]; !ok {
			return nil, &fakeError{-32602, "Invalid parameters"}
		}
	}
	for name, optional := range known {
		if _, ok := params[name]; !ok && !optional {
			return nil, &fakeError{-32602, "Invalid parameters"}
		}
	}
	text := func(name string) string { s, _ := params[name].(string); return s }
	number := func(name string) int64 { n, _ := params[name].(float64); return int64(n) }
	switch method {
	case "framework_wait_init":
		return true, nil
	case "spdk_get_version":
		return map[string]any{"version": "SPDK v24.01", "fields": map[string]any{"major": 24, "minor": 1, "patch": 0, "suffix": ""}}, nil
	case "rpc_get_methods":
		var list []string
		for m := range schema {
			if !f.is("without " + m) {
				list = append(list, m)
			}
		}
		return list, nil
	case "bdev_aio_create", "bdev_uring_create", "bdev_null_create":
		return f.openBdev(method, text("name"), text("filename"), number("num_blocks"), number("block_size"))
	case "bdev_aio_delete", "bdev_uring_delete", "bdev_null_delete":
		b := f.bdevs[text("name")]
		if b == nil {
			return nil, &fakeError{-19, "No such device"}
		}
		b.file.Close()
		delete(f.bdevs, text("name"))
		return true, nil
	case "bdev_get_bdevs":
		b := f.bdevs[text("name")]
		if b == nil {
			return nil, &fakeError{-19, "No such device"}
		}
		return []any{map[string]any{
			"name": text("name"), "product_name": b.product, "block_size": b.size, "num_blocks": b.blocks, "claimed": b.claimed,
			"supported_io_types": map[string]bool{"read": true, "write": true, "flush": b.flush, "unmap": false},
		}}, nil
	}
	return f.vhostCall(method, text)
}

func (f *fake) openBdev(method, name, path string, blocks, size int64) (any, *fakeError) {
	if f.bdevs[name] != nil {
		return nil, &fakeError{-17, "File exists"}
	}
	b := &fakeBdev{product: "Null disk", blocks: blocks, size: size}
	if path != "" {
		flags := os.O_RDWR | syscall.O_DIRECT
		if f.is("buffered") {
			flags = os.O_RDWR
		}
		file, err := os.OpenFile(path, flags, 0)
		if err != nil {
			return nil, &fakeError{-2, "No such file or directory"}
		}
		st, _ := file.Stat()
		b.file, b.blocks, b.product, b.flush = file, st.Size()/size, "AIO disk", true
		if method == "bdev_uring_create" {
			b.product, b.flush = "URING bdev", false
		}
	}
	f.bdevs[name] = b
	return name, nil
}

// vhostCall has one code for all that is wrong, as lib/vhost has.
func (f *fake) vhostCall(method string, text func(string) string) (any, *fakeError) {
	name := text("ctrlr")
	c := f.controllers[name]
	gone := &fakeError{-32602, "No such device"}
	switch method {
	case "vhost_create_blk_controller", "vhost_create_scsi_controller":
		scsi := method == "vhost_create_scsi_controller"
		if c != nil {
			return nil, &fakeError{-32602, "File exists"}
		}
		if !scsi && f.bdevs[text("dev_name")] == nil {
			return nil, gone
		}
		l, err := net.Listen("unix", filepath.Join(f.vhost, name))
		if err != nil {
			return nil, &fakeError{-32602, "Input/output error"}
		}
		f.controllers[name] = &fakeController{socket: l, bdev: text("dev_name"), scsi: scsi}
		return true, nil
	case "vhost_get_controllers":
		c := f.controllers[text("name")]
		if c == nil {
			return nil, &fakeError{-32603, "No such device"}
		}
		return []any{map[string]any{"ctrlr": text("name"), "cpumask": "0x2", "socket": c.socket.Addr().String(), "delay_base_us": 0, "iops_threshold": 60000}}, nil
	}
	switch {
	case c == nil:
		return nil, gone
	case method == "vhost_scsi_controller_add_target":
		if f.is("refuses targets") || f.bdevs[text("bdev_name")] == nil {
			return nil, &fakeError{-32602, "Invalid argument"}
		}
		c.target = text("bdev_name")
		return 0, nil
	case method == "vhost_scsi_controller_remove_target":
		if c.target == "" {
			return nil, gone
		}
		c.target = ""
		return true, nil
	case c.target != "": // SPDK deletes no controller that has targets
		return nil, &fakeError{-32602, "Device or resource busy"}
	}
	c.socket.Close()
	delete(f.controllers, name)
	return true, nil
}
