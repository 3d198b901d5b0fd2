package main

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// neighbours is the host of a target for the addresses next to the pod's own, which other new pods have.
const neighbours = "neighbours"

// reached is the result of an attack on one target.
type reached struct {
	First float64 `json:"first_seconds"`
	Last  float64 `json:"last_seconds"`
	Count int     `json:"count"`
}

// attack connects to each TARGET repeatedly for this many seconds, from the program's first instruction, and answers
// requests on $PORT during and after the attack: {"done": ..., "tried": COUNT, "reached": {TARGET: ...}}. A target is
// HOST:PORT, or neighbours=COUNT:PORT for COUNT addresses on either side of its own.
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
	found, done := map[string]reached{}, false
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
					one, again := found[target]
					one.Last = time.Since(began).Seconds()
					if !again {
						one.First = one.Last
					}
					one.Count++
					found[target] = one
					lock.Unlock()
				}
				time.Sleep(50 * time.Millisecond)
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
		own := ownAddress()
		for offset := -reach; offset <= reach; offset++ {
			if offset != 0 {
				targets = append(targets, net.JoinHostPort(shifted(own, offset).String(), port))
			}
		}
	}
	return targets
}

// ownAddress is the IPv4 address of this pod.
func ownAddress() net.IP {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		fail("no addresses: %v", err)
	}
	for _, address := range addresses {
		network, is := address.(*net.IPNet)
		if is && !network.IP.IsLoopback() && network.IP.To4() != nil {
			return network.IP.To4()
		}
	}
	fail("this pod has no IPv4 address")
	return nil
}

func shifted(address net.IP, offset int) net.IP {
	number := uint32(address[0])<<24 | uint32(address[1])<<16 | uint32(address[2])<<8 | uint32(address[3])
	number += uint32(offset)
	return net.IPv4(byte(number>>24), byte(number>>16), byte(number>>8), byte(number))
}
