package main

import (
	"fmt"
	"runtime"
	"time"
)

// bulk sends or receives one large body and prints the duration.
func bulk(o options, up bool) (any, error) {
	runtime.LockOSThread()
	to, err := dial(o.port)
	if err != nil {
		return nil, err
	}
	defer to.close()
	began := time.Now()
	if up {
		err = push(to, o)
	} else {
		o.path = fmt.Sprintf("/down?bytes=%d", o.bytes)
		var status int
		var got int64
		status, got, err = to.exchange(build(o, o.path))
		if err == nil && (status != 200 || got < o.bytes) {
			err = fmt.Errorf("got %d with %d bytes", status, got)
		}
	}
	return times{Requests: 1, Seconds: time.Since(began).Seconds(), Bytes: o.bytes}, err
}

func push(to *line, o options) error {
	o.method = "PUT"
	o.headers = append(o.headers, fmt.Sprintf("Content-Length: %d", o.bytes))
	if err := to.send(build(o, "/up")); err != nil {
		return err
	}
	piece := make([]byte, 256<<10)
	for left := o.bytes; left > 0; left -= int64(len(piece)) {
		piece = piece[:min(int64(len(piece)), left)]
		if err := to.send(piece); err != nil {
			return err
		}
	}
	status, _, err := to.exchange(nil)
	if err == nil && status != 200 {
		err = fmt.Errorf("answered with %d", status)
	}
	return err
}
