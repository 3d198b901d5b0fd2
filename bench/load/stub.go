package main

import (
	"runtime/debug"
	"strconv"
	"syscall"
)

// stub is the smallest app: it answers each request with an empty 200. The benches run thousands of it.
func stub(port string) error {
	debug.SetGCPercent(-1)
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	listener, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if err := syscall.Bind(listener, &syscall.SockaddrInet4{Port: number, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := syscall.Listen(listener, 8); err != nil {
		return err
	}
	buffer := make([]byte, 4096)
	for {
		caller, _, err := syscall.Accept(listener)
		if err != nil {
			continue
		}
		_, _ = syscall.Read(caller, buffer)
		_, _ = syscall.Write(caller, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
		_ = syscall.Close(caller)
	}
}
