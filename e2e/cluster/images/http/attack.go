package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// neighbours is the host of a target for the addresses next to the pod's own, which other new pods have.
const neighbours = "neighbours"

// attack connects to each TARGET repeatedly, until it succeeds, but at most for this many seconds, from the program's first
// instruction. It answers requests on $PORT during and after the attack:
// {"done": ..., "tried": COUNT, "reached": {TARGET: SECONDS}}, with the time of the connection.
// A target is HOST:PORT, or neighbours=COUNT:PORT for COUNT addresses on either side of its own.
func attack(words []string) {
	began := time.Now()
	if len(words) < 2 {
		fail("attack takes a number of seconds and targets")
	}
	seconds, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		fail("%q is not a number of seconds", words[0])
	}
	deadline := began.Add(time.Duration(seconds * float64(time.Second)))
	targets := expand(words[1:])
	found, done := map[string]float64{}, false
	var lock sync.Mutex
	var attackers sync.WaitGroup
	for _, target := range targets {
		attackers.Add(1)
		go func() {
			defer attackers.Done()
			for time.Now().Before(deadline) {
				connection, err := net.DialTimeout("tcp", target, 300*time.Millisecond)
				if err == nil {
					_ = connection.Close()
					lock.Lock()
					found[target] = time.Since(began).Seconds()
					lock.Unlock()
					return
				}
				time.Sleep(50 * time.Millisecond) // pacing: between two attempts
			}
		}()
	}
	go func() {
		attackers.Wait()
		lock.Lock()
		done = true
		lock.Unlock()
	}()
	handler := func(response http.ResponseWriter, _ *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		_ = json.NewEncoder(response).Encode(map[string]any{"done": done, "tried": len(targets), "reached": found})
	}
	server := http.Server{Addr: ":" + os.Getenv("PORT"), Handler: http.HandlerFunc(handler), ReadHeaderTimeout: time.Minute}
	fail("%v", server.ListenAndServe())
}

// expand replaces neighbours=COUNT:PORT by addresses.
func expand(words []string) (targets []string) {
	for _, word := range words {
		host, port, err := net.SplitHostPort(word)
		if err != nil {
			fail("%q is not HOST:PORT", word)
		}
		name, count, found := strings.Cut(host, "=")
		if !found || name != neighbours {
			targets = append(targets, word)
			continue
		}
		reach, err := strconv.Atoi(count)
		if err != nil {
			fail("%q is not a number of neighbours", count)
		}
		below, above := ownAddress(), ownAddress()
		for range reach {
			below, above = below.Prev(), above.Next()
			targets = append(targets, net.JoinHostPort(below.String(), port), net.JoinHostPort(above.String(), port))
		}
	}
	return targets
}

// ownAddress is the IPv4 address of this pod.
func ownAddress() netip.Addr {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		fail("no addresses: %v", err)
	}
	for _, address := range addresses {
		prefix, err := netip.ParsePrefix(address.String())
		if err == nil && prefix.Addr().Is4() && !prefix.Addr().IsLoopback() {
			return prefix.Addr()
		}
	}
	fail("this pod has no IPv4 address")
	return netip.Addr{}
}
