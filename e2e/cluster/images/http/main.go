// Command app is the tests' app in a pod: it answers, asks, or fails, as its first argument says.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	words := os.Args[1:]
	if len(words) == 0 {
		words = []string{"serve"}
	}
	argument := ""
	if len(words) > 1 {
		argument = words[1]
	}
	if argument == "" && (words[0] == "get" || words[0] == "until" || words[0] == "connect") {
		fail("%s takes an address", words[0])
	}
	switch words[0] {
	case "serve":
		serve(argument)
	case "get":
		get(words[1:])
	case "until":
		until(words[1:])
	case "connect":
		connect(argument)
	case "exit":
		exit(argument)
	case "hog":
		hog()
	case "silent":
		// Not an empty select: with nothing else to run, Go calls that a deadlock and ends.
		time.Sleep(24 * time.Hour)
	default:
		fail("unknown word %q; there are: serve, get, until, connect, exit, hog, silent", words[0])
	}
}

// serve answers every request with what it was asked, as JSON, on the given port, else on $PORT, else on 8888.
func serve(port string) {
	if port == "" {
		port = os.Getenv("PORT")
	}
	if port == "" {
		port = "8888"
	}
	host, _ := os.Hostname()
	handler := func(response http.ResponseWriter, request *http.Request) {
		response.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(response).Encode(map[string]any{
			"app": "http", "host": host, "method": request.Method, "path": request.RequestURI,
			"host_header": request.Host, "headers": request.Header,
		})
	}
	fmt.Println("listening on port", port)
	server := http.Server{Addr: ":" + port, Handler: http.HandlerFunc(handler), ReadHeaderTimeout: time.Minute}
	fail("%v", server.ListenAndServe())
}

// get asks a URL, with the headers that follow it (NAME VALUE NAME VALUE ...), prints status and body, and fails when there
// is no answer within three seconds.
func get(words []string) {
	if err := ask(words); err != nil {
		fail("no answer: %v", err)
	}
}

// until is get again and again, for 20 seconds: a new pod's address takes a moment to reach the rules of a network.
func until(words []string) {
	deadline := time.Now().Add(20 * time.Second)
	for {
		err := ask(words)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			fail("no answer: %v", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func ask(words []string) error {
	request, err := http.NewRequest(http.MethodGet, words[0], nil)
	if err != nil {
		return err
	}
	for index := 1; index+1 < len(words); index += 2 {
		request.Header.Set(words[index], words[index+1])
	}
	client := http.Client{Timeout: 3 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	fmt.Println(response.StatusCode)
	_, err = io.Copy(os.Stdout, response.Body)
	return err
}

// connect opens a TCP connection to HOST:PORT and fails when that takes more than three seconds.
func connect(address string) {
	connection, err := net.DialTimeout("tcp", address, 3*time.Second)
	if err != nil {
		fail("no connection: %v", err)
	}
	_ = connection.Close()
	fmt.Println("connected")
}

// exit says a few lines, as a crashing app does, and ends with the given status, else with 1.
func exit(status string) {
	for line := 1; line <= 30; line++ {
		fmt.Println("line", line, "of an app that is about to crash")
	}
	code, err := strconv.Atoi(status)
	if err != nil {
		code = 1
	}
	fmt.Fprintln(os.Stderr, "fatal: the app has crashed as it was asked to")
	os.Exit(code)
}

// hog takes memory until the kernel ends it.
func hog() {
	var taken [][]byte
	for {
		block := make([]byte, 8<<20)
		for index := 0; index < len(block); index += 4096 {
			block[index] = 1
		}
		taken = append(taken, block)
		fmt.Println("took", len(taken)*8, "MiB")
	}
}

func fail(format string, words ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", words...)
	os.Exit(1)
}
