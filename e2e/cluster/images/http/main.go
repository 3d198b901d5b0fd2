// Command app is the tests' app in a pod. Its first argument selects the mode: answer, request, or fail.
package main

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	case "start-notebook.py":
		// In place of Jupyter, whose options follow.
		serve("")
	case "get":
		get(words[1:])
	case "until":
		until(words[1:])
	case "connect":
		connect(argument)
	case "attack":
		attack(words[1:])
	case "read":
		read(argument)
	case "exit":
		exit(argument)
	case "hog":
		hog()
	default:
		fail("unknown word %q; there are: serve, get, until, connect, attack, read, exit, hog", words[0])
	}
}

// serve answers every request with a JSON description of it, and echoes WebSockets, on the given port, else $PORT, else 8888.
// With the folder $FILES, it writes the body of a PUT request into the file of the path there, and the description has the content
// of the file.
func serve(port string) {
	if port == "" {
		port = os.Getenv("PORT")
	}
	if port == "" {
		port = "8888"
	}
	host, _ := os.Hostname()
	files := os.Getenv("FILES")
	handler := func(response http.ResponseWriter, request *http.Request) {
		if strings.EqualFold(request.Header.Get("Upgrade"), "websocket") {
			echo(response, request)
			return
		}
		description := map[string]any{
			"app": "http", "host": host, "method": request.Method, "path": request.RequestURI,
			"host_header": request.Host, "headers": request.Header,
		}
		if files != "" {
			content, err := file(filepath.Join(files, filepath.Clean("/"+request.URL.Path)), request)
			if err != nil {
				http.Error(response, err.Error(), http.StatusInternalServerError)
				return
			}
			description["file"] = content
		}
		response.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(response).Encode(description)
	}
	fmt.Println("listening on port", port)
	server := http.Server{Addr: ":" + port, Handler: http.HandlerFunc(handler), ReadHeaderTimeout: time.Minute}
	fail("%v", server.ListenAndServe())
}

// file writes the body of a PUT request into a file. Returns the content of the file, which is empty if there is none.
func file(path string, request *http.Request) (string, error) {
	if request.Method == http.MethodPut {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = os.WriteFile(path, body, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	content, _ := os.ReadFile(path)
	return string(content), nil
}

// echo returns each frame of a WebSocket until it is closed.
func echo(response http.ResponseWriter, request *http.Request) {
	connection, buffered, err := http.NewResponseController(response).Hijack()
	if err != nil {
		return
	}
	defer connection.Close()
	// RFC 6455, 1.3.
	sum := sha1.Sum([]byte(request.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(buffered, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	for buffered.Flush() == nil {
		head, payload, err := frame(buffered)
		if err != nil {
			return
		}
		_, _ = buffered.Write(append(head, payload...))
		if head[0]&0x0f == 8 {
			_ = buffered.Flush()
			return
		}
	}
}

// frame reads a client's frame of less than 64 KiB; it returns the head of a server's frame with the same payload, and the
// payload (RFC 6455, 5.2).
func frame(reader io.Reader) (head, payload []byte, err error) {
	head = make([]byte, 2)
	if _, err = io.ReadFull(reader, head); err != nil {
		return nil, nil, err
	}
	// A client's frame has a mask.
	head[1] &= 0x7f
	size := int(head[1])
	switch size {
	case 126:
		long := make([]byte, 2)
		if _, err = io.ReadFull(reader, long); err != nil {
			return nil, nil, err
		}
		size, head = int(binary.BigEndian.Uint16(long)), append(head, long...)
	case 127:
		return nil, nil, errors.New("the frame is too long")
	}
	masked := make([]byte, 4+size)
	if _, err = io.ReadFull(reader, masked); err != nil {
		return nil, nil, err
	}
	mask, payload := masked[:4], masked[4:]
	for index := range payload {
		payload[index] ^= mask[index%4]
	}
	return head, payload, nil
}

// get asks a URL, with the headers that follow it (NAME VALUE NAME VALUE ...), prints status and body, and fails when there
// is no answer within three seconds.
func get(words []string) {
	if err := ask(words); err != nil {
		fail("no answer: %v", err)
	}
}

// until repeats get for up to 3 minutes, because networks learn a new pod's address with a delay.
func until(words []string) {
	deadline := time.Now().Add(3 * time.Minute)
	for {
		err := ask(words)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			fail("no answer: %v", err)
		}
		time.Sleep(100 * time.Millisecond) // pacing: a poll loop
	}
}

func ask(words []string) error {
	request, err := http.NewRequest(http.MethodGet, words[0], nil)
	if err != nil {
		return err
	}
	for index := 1; index+1 < len(words); index += 2 {
		if strings.EqualFold(words[index], "Host") {
			// Go sends the field, not the header.
			request.Host = words[index+1]
			continue
		}
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

// read prints a file.
func read(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		fail("%v", err)
	}
	fmt.Print(string(text))
}

// exit prints a few lines, as a crashing app does, and exits with the given status, else with 1.
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

// hog allocates memory until the kernel kills it.
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
