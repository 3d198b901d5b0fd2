package main

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// line is a blocking connection to 127.0.0.1, without Go's poller.
type line struct {
	fd     int
	buffer []byte
}

func dial(port int) (*line, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	// Timeout of each read and write.
	limit := syscall.Timeval{Sec: 30}
	_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit)
	_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit)
	address := &syscall.SockaddrInet4{Port: port, Addr: [4]byte(net.IPv4(127, 0, 0, 1).To4())}
	if err := syscall.Connect(fd, address); err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return &line{fd: fd, buffer: make([]byte, 256<<10)}, nil
}

func (l *line) close() { syscall.Close(l.fd) }

func (l *line) send(data []byte) error {
	for len(data) > 0 {
		n, err := syscall.Write(l.fd, data)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func (l *line) read(into []byte) (int, error) {
	for {
		n, err := syscall.Read(l.fd, into)
		if err == syscall.EINTR {
			continue
		}
		if err == nil && n == 0 {
			return 0, fmt.Errorf("the connection was closed")
		}
		return n, err
	}
}

// answer reads one answer: its status, the length of its body, and how much of the body came with the head.
func (l *line) head() (status int, length int64, rest []byte, err error) {
	have := 0
	for {
		n, err := l.read(l.buffer[have:])
		if err != nil {
			return 0, 0, nil, err
		}
		have += n
		end := bytes.Index(l.buffer[:have], []byte("\r\n\r\n"))
		if end < 0 {
			continue
		}
		status, length, err = parse(string(l.buffer[:end]))
		return status, length, l.buffer[end+4 : have], err
	}
}

const chunked = -1

func parse(head string) (int, int64, error) {
	lines := strings.Split(head, "\r\n")
	words := strings.SplitN(lines[0], " ", 3)
	if len(words) < 2 {
		return 0, 0, fmt.Errorf("no answer: %q", lines[0])
	}
	status, err := strconv.Atoi(words[1])
	length := int64(0)
	for _, field := range lines[1:] {
		name, value, _ := strings.Cut(field, ":")
		switch strings.ToLower(name) {
		case "content-length":
			length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		case "transfer-encoding":
			length = chunked
		}
	}
	return status, length, err
}

// exchange sends a request and reads its whole answer; it returns the status and the bytes of the body.
func (l *line) exchange(request []byte) (int, int64, error) {
	if err := l.send(request); err != nil {
		return 0, 0, err
	}
	status, length, rest, err := l.head()
	if err != nil {
		return 0, 0, err
	}
	got := int64(len(rest))
	tail := append([]byte(nil), rest[max(0, len(rest)-5):]...)
	for length == chunked && !bytes.HasSuffix(tail, []byte("0\r\n\r\n")) || got < length {
		n, err := l.read(l.buffer)
		if err != nil {
			return status, got, err
		}
		got += int64(n)
		if length == chunked {
			tail = append(tail, l.buffer[max(0, n-5):n]...)
			tail = tail[max(0, len(tail)-5):]
		}
	}
	return status, got, nil
}

// sleepUntil is as exact as the kernel's timers are; Go's own are rounded to milliseconds.
func sleepUntil(moment time.Time) {
	if left := time.Until(moment); left > 0 {
		pause := syscall.NsecToTimespec(left.Nanoseconds())
		_ = syscall.Nanosleep(&pause, nil)
	}
}
