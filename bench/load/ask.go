package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// times is the output of a part: number of answers, and durations in microseconds.
type times struct {
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50"`
	P99      float64 `json:"p99"`
	Longest  float64 `json:"longest"`
	Bytes    int64   `json:"bytes"`
}

func summary(all [][]time.Duration, took time.Duration, bytes int64) times {
	each := slices.Concat(all...)
	slices.Sort(each)
	at := func(share float64) float64 {
		if len(each) == 0 {
			return 0
		}
		return float64(each[min(len(each)-1, int(float64(len(each))*share))].Nanoseconds()) / 1000
	}
	return times{len(each), took.Seconds(), at(0.5), at(0.99), at(1), bytes}
}

// together runs work on as many threads as there are connections and stops at the first error.
func together(connections int, work func(number int) ([]time.Duration, error)) ([][]time.Duration, error) {
	all, failures := make([][]time.Duration, connections), make([]error, connections)
	var group sync.WaitGroup
	for number := range connections {
		group.Add(1)
		go func() {
			defer group.Done()
			runtime.LockOSThread()
			all[number], failures[number] = work(number)
		}()
	}
	group.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ask sends requests. At a fixed rate, latency counts from the time at which a request was due: a late answer delays the
// next request, and its latency includes this delay.
func ask(o options) (any, error) {
	var next atomic.Int64
	var size atomic.Int64
	next.Store(int64(o.first))
	began := time.Now().Add(20 * time.Millisecond)
	end := began.Add(o.duration)
	all, err := together(o.connections, func(number int) ([]time.Duration, error) {
		to, err := dial(o.port)
		if err != nil {
			return nil, err
		}
		defer to.close()
		taken := make([]time.Duration, 0, 1<<16)
		request := build(o, o.path)
		due := began
		interval := time.Duration(0)
		if o.rate > 0 {
			interval = time.Duration(int64(time.Second) * int64(o.connections) / int64(o.rate))
			due = began.Add(interval * time.Duration(number) / time.Duration(o.connections))
		}
		sleepUntil(due)
		for now := time.Now(); now.Before(end) && due.Before(end); now = time.Now() {
			if o.rate == 0 {
				due = now
			}
			if strings.Contains(o.path, "%d") {
				request = build(o, fmt.Sprintf(o.path, next.Add(1)-1))
			}
			status, bytes, err := to.exchange(request)
			if err == nil && status != o.expect {
				err = fmt.Errorf("%s %s answered %d", o.method, o.path, status)
			}
			if err != nil {
				return nil, err
			}
			taken = append(taken, time.Since(due))
			size.Store(bytes)
			due = due.Add(interval)
			if o.rate > 0 {
				sleepUntil(due)
			}
		}
		return taken, nil
	})
	return summary(all, time.Since(began), size.Load()), err
}

func build(o options, path string) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", o.method, path, o.port)
	for _, line := range o.headers {
		text.WriteString(line + "\r\n")
	}
	if o.body != "" {
		fmt.Fprintf(&text, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(o.body))
	} else if o.method == "POST" {
		text.WriteString("Content-Length: 0\r\n")
	}
	text.WriteString("\r\n" + o.body)
	return []byte(text.String())
}
