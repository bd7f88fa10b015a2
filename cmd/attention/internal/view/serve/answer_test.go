package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// serving serves a handler within limits until the end of the test. It returns the URL and a function that counts open
// connections.
func serving(t *testing.T, of limits, h http.Handler) (url string, open *atomic.Int64) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := of.server(h)
	open = new(atomic.Int64)
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	go s.Serve(&connections{Listener: listener, most: of.connections})
	t.Cleanup(func() { s.Close() })
	return "http://" + listener.Addr().String() + "/", open
}

// large is an answer that no socket holds.
var large = strings.Repeat("0123456789abcdef", 1<<20)

// Clients that never read take no place, and are disconnected after a while. A client that reads slowly is not.
func TestReadersThatNeverReadAreEnded(t *testing.T) {
	of := small()
	url, open := serving(t, of, handler(func(*http.Request) (any, error) { return large, nil }).
		within(make(chan struct{}, 1)))
	begins := func() net.Conn { // a few bytes, and then stops
		c := dial(t, url, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		head := make([]byte, len("HTTP/1.1 200"))
		_, err := io.ReadFull(c, head)
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 200", string(head))
		return c
	}
	for range of.connections - 2 {
		begins()
	}
	code, body, _ := ask(t, "GET", url, "", func(r *http.Request) { r.Close = true })
	require.Equal(t, 200, code)
	require.Len(t, body, len(large)+2)
	slow, got := begins(), 0
	for buffer := make([]byte, 1<<20); ; time.Sleep(100 * time.Millisecond) { // in total longer than a part may take
		n, err := io.ReadFull(slow, buffer)
		if got += n; err != nil {
			break
		}
	}
	require.Greater(t, got, len(large), "a slow reader gets all")
	require.Eventually(t, func() bool { return open.Load() == 0 }, time.Minute, time.Millisecond, "all are ended")
}

// A request whose body never arrives takes no place, and its connection is closed.
func TestBodiesThatNeverComeAreEnded(t *testing.T) {
	of := small()
	of.body = time.Second
	echo := func(r *http.Request) (any, error) {
		body, err := io.ReadAll(r.Body)
		return string(body), err
	}
	url, open := serving(t, of, handler(echo).within(make(chan struct{}, 1)))
	var waiting []net.Conn
	for range 5 {
		waiting = append(waiting, dial(t, url, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc"))
	}
	require.Eventually(t, func() bool { return open.Load() == 5 }, time.Minute, time.Millisecond)
	code, body, _ := ask(t, "POST", url, "abc", func(r *http.Request) { r.Close = true })
	require.Equal(t, 200, code, body)
	require.Equal(t, `"abc"`, body)
	for _, c := range waiting {
		require.Contains(t, ends(t, c, 30*time.Second), `408 Request Timeout`)
	}
	require.Eventually(t, func() bool { return open.Load() == 0 }, time.Minute, time.Millisecond)
}

// A stream whose events are far apart may last longer than the limit of a part. It ends if the client does not read.
func TestStreamsStay(t *testing.T) {
	of := small()
	of.answer, of.body = 200*time.Millisecond, 200*time.Millisecond
	pause, text := 3*of.answer, "data: 1\n\n"
	var asked atomic.Int64
	url, open := serving(t, of, limited(make(chan struct{}, 1), http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			for {
				if _, err := fmt.Fprint(w, text); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				select {
				case <-r.Context().Done():
					return
				case <-time.After(pause):
				}
			}
		})))
	answer, err := http.Get(url)
	require.NoError(t, err)
	read := bufio.NewScanner(answer.Body)
	for range 6 { // an event consists of two lines
		require.True(t, read.Scan(), read.Err())
	}
	answer.Body.Close()
	require.Eventually(t, func() bool { return open.Load() == 0 }, time.Minute, time.Millisecond)
	pause, text = 0, large
	dial(t, url, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.Eventually(t, func() bool { return asked.Load() == 2 }, time.Minute, time.Millisecond)
	require.Eventually(t, func() bool { return open.Load() == 0 }, time.Minute, time.Millisecond)
}
