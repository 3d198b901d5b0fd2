// load is the benches' load generator: requests at a fixed rate or as fast as they are answered, WebSocket echoes, large
// bodies. It is also the app that answers the last two. Go's standard library only. Each connection is a thread that
// blocks, so that no scheduler stands between an answer and its time; each part prints one line of JSON.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

type headers []string

func (h *headers) String() string     { return strings.Join(*h, ", ") }
func (h *headers) Set(v string) error { *h = append(*h, v); return nil }

type options struct {
	port, connections, rate, size int
	first                         int
	bytes                         int64
	duration                      time.Duration
	method, path, body            string
	headers                       headers
	expect                        int
}

var parts = map[string]func(options) (any, error){
	"app":  serve,
	"ask":  ask,
	"echo": echo,
	"up":   func(o options) (any, error) { return bulk(o, true) },
	"down": func(o options) (any, error) { return bulk(o, false) },
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "stub" {
		fail(stub(os.Args[2]))
	}
	if len(os.Args) < 2 || parts[os.Args[1]] == nil {
		fail(fmt.Errorf("usage: load app|ask|echo|up|down [-h], load stub PORT"))
	}
	var o options
	set := flag.NewFlagSet("load "+os.Args[1], flag.ExitOnError)
	set.IntVar(&o.port, "port", 0, "of 127.0.0.1")
	set.IntVar(&o.connections, "connections", 1, "at once")
	set.IntVar(&o.rate, "rate", 0, "ask: requests a second, over all connections; 0: as fast as they are answered")
	set.IntVar(&o.size, "size", 64, "echo: bytes of a message")
	set.IntVar(&o.first, "first", 0, "ask: the number that the first %d in the path stands for")
	set.IntVar(&o.expect, "expect", 200, "ask: the status of a good answer")
	set.Int64Var(&o.bytes, "bytes", 1<<30, "up, down: bytes of the body")
	set.DurationVar(&o.duration, "for", time.Second, "ask, echo: duration")
	set.StringVar(&o.method, "method", "GET", "ask")
	set.StringVar(&o.path, "path", "/", "%d is replaced by a different number in each request")
	set.StringVar(&o.body, "body", "", "ask: JSON")
	set.Var(&o.headers, "H", "a header line; may be repeated")
	_ = set.Parse(os.Args[2:])
	// A processor for each thread, so that a blocked thread delays no other. No garbage collection during a measurement.
	runtime.GOMAXPROCS(max(4, o.connections+2))
	if os.Args[1] != "app" {
		debug.SetGCPercent(-1)
	}
	result, err := parts[os.Args[1]](o)
	fail(err)
	fail(json.NewEncoder(os.Stdout).Encode(result))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}
