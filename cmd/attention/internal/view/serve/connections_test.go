package serve

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dial connects to the server of a URL and sends a text.
func dial(t *testing.T, url, text string) net.Conn {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	c, err := net.Dial("tcp", host)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	_, _ = io.WriteString(c, text) // the server may have closed it
	return c
}

// ends waits until the server closes a connection, and returns the text that the server has sent.
func ends(t *testing.T, c net.Conn, within time.Duration) string {
	require.NoError(t, c.SetReadDeadline(time.Now().Add(within)))
	got, err := io.ReadAll(c)
	if err != nil {
		require.NotErrorIs(t, err, http.ErrHandlerTimeout)
		timeout, ok := err.(net.Error)
		require.False(t, ok && timeout.Timeout(), "the connection is open")
	}
	return string(got)
}

// small are limits for a test.
func small() limits {
	return limits{connections: 8, streams: 4, busy: 2,
		header: 5 * time.Second, body: 5 * time.Second, answer: time.Second}
}

// Connections without the token take no place of those with it, whatever they send.
func TestConnectionsWithoutTheTokenLeave(t *testing.T) {
	s, err := newServer(Config{Addr: "127.0.0.1:0"}, small())
	require.NoError(t, err)
	start(t, s)
	require.Equal(t, io.Discard, s.server.ErrorLog.Writer(), "nothing is printed")
	known := &http.Client{Transport: new(http.Transport)} // one connection for all requests
	answers := func(c *http.Client) {
		t.Helper()
		r, err := c.Get(s.URL + "view")
		require.NoError(t, err)
		_, err = io.ReadAll(r.Body)
		require.NoError(t, err)
		require.Equal(t, 200, r.StatusCode)
		r.Body.Close()
	}
	answers(known)
	for range 10 {
		for _, text := range []string{"", "GET", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /forward HTTP/1.1\r\nContent-",
			"GET /token/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", "\x16\x03\x01", "\n", strings.Repeat("a", 1000)} {
			dial(t, s.URL, text)
		}
		answers(known)
		answers(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}})
		l := s.listener.(*connections)
		l.mu.Lock()
		require.LessOrEqual(t, len(l.open), l.most)
		l.mu.Unlock()
	}
}

// An idle connection with the token is closed for a new one; a connection with a request is not.
func TestConnectionsWithTheTokenStay(t *testing.T) {
	l := &connections{most: 2}
	admit := func() (*connection, bool) {
		ours, _ := net.Pipe()
		return l.admit(ours)
	}
	first, _ := admit()
	second, _ := admit()
	first.known, second.known = true, true
	_, ok := admit()
	require.False(t, ok, "both have a request")
	second.idle = true
	third, ok := admit()
	require.True(t, ok)
	require.Equal(t, []*connection{first, third}, l.open)
	fourth, ok := admit()
	require.True(t, ok, "the third has not shown the token")
	require.Equal(t, []*connection{first, fourth}, l.open)
	require.NoError(t, third.Close(), "which its goroutine does")
	require.NoError(t, fourth.Close())
	require.Equal(t, []*connection{first}, l.open)
}

// Clients may use a part of the descriptors, and the rest is for the run.
func TestNewLimits(t *testing.T) {
	for descriptors, want := range map[uint64]int{0: 8, 100: 25, 256: 64, 1024: 256, 20000: 512, 1 << 40: 512} {
		of := newLimits(descriptors)
		require.Equal(t, want, of.connections, descriptors)
		require.Less(t, of.streams, of.connections)
		require.LessOrEqual(t, of.busy, of.connections)
	}
}
