package main

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// frame is one binary WebSocket message as a client sends it, masked with zeros, so that
// masking costs the client almost nothing.
func frame(size int) []byte {
	head := []byte{0x82}
	switch {
	case size < 126:
		head = append(head, 0x80|byte(size))
	case size < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 0x80|126), uint16(size))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 0x80|127), uint64(size))
	}
	return append(append(head, 0, 0, 0, 0), make([]byte, size)...)
}

func upgrade(o options) []byte {
	lines := []string{
		"GET /ws HTTP/1.1", fmt.Sprintf("Host: 127.0.0.1:%d", o.port), "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
	}
	return []byte(strings.Join(append(lines, o.headers...), "\r\n") + "\r\n\r\n")
}

// echo sends a message on each connection, waits until it is back, and sends the next.
func echo(o options) (any, error) {
	message := frame(o.size)
	// Echoes have no mask.
	back := len(message) - 4
	began := time.Now()
	end := began.Add(o.duration)
	all, err := together(o.connections, func(int) ([]time.Duration, error) {
		to, err := dial(o.port)
		if err != nil {
			return nil, err
		}
		defer to.close()
		if err := to.send(upgrade(o)); err != nil {
			return nil, err
		}
		if status, _, _, err := to.head(); err != nil || status != 101 {
			return nil, fmt.Errorf("the upgrade was answered with %d, %v", status, err)
		}
		taken := make([]time.Duration, 0, 1<<16)
		for now := time.Now(); now.Before(end); now = time.Now() {
			if err := to.send(message); err != nil {
				return nil, err
			}
			for got := 0; got < back; {
				n, err := to.read(to.buffer)
				if err != nil {
					return nil, err
				}
				got += n
			}
			taken = append(taken, time.Since(now))
		}
		return taken, nil
	})
	return summary(all, time.Since(began), int64(o.size)), err
}
