package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

// serve is the upstream app: it reads bodies at /up, sends at /down, and echoes at /ws.
func serve(o options) (any, error) {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") })
	http.HandleFunc("/up", func(w http.ResponseWriter, r *http.Request) {
		// The answer has the number of bytes, which exposes a proxy that loses some.
		got, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r.Body}, make([]byte, 256<<10))
		if err != nil || got != r.ContentLength {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprint(w, got)
	})
	http.HandleFunc("/down", func(w http.ResponseWriter, r *http.Request) {
		left, _ := strconv.ParseInt(r.URL.Query().Get("bytes"), 10, 64)
		w.Header().Set("Content-Length", strconv.FormatInt(left, 10))
		for piece := make([]byte, 256<<10); left > 0; left -= int64(len(piece)) {
			piece = piece[:min(int64(len(piece)), left)]
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})
	http.HandleFunc("/ws", accept)
	return nil, http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", o.port), nil)
}

func accept(w http.ResponseWriter, r *http.Request) {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	taken, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer taken.Close()
	_, _ = fmt.Fprintf(taken, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	repeat(taken, buffered.Reader)
}

// repeat sends each message back without its mask, which is zeros (frame).
func repeat(to net.Conn, from *bufio.Reader) {
	var out []byte
	for {
		head, err := from.Peek(2)
		if err != nil {
			return
		}
		first, size, extra := head[0], int(head[1]&0x7f), 0
		if size == 126 {
			extra = 2
		} else if size == 127 {
			extra = 8
		}
		head, err = from.Peek(2 + extra)
		if err != nil {
			return
		}
		if extra == 2 {
			size = int(binary.BigEndian.Uint16(head[2:]))
		} else if extra == 8 {
			size = int(binary.BigEndian.Uint64(head[2:]))
		}
		out = append(append(out[:0], first, head[1]&0x7f), head[2:]...)
		_, _ = from.Discard(2 + extra + 4)
		start := len(out)
		out = append(out, make([]byte, size)...)
		if _, err := io.ReadFull(from, out[start:]); err != nil {
			return
		}
		if _, err := to.Write(out); err != nil {
			return
		}
	}
}
