package serve

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// connections is a listener with a limit of open connections. A connection beyond the limit closes the oldest one that
// has not sent the token, which a browser does immediately, or else the oldest one without a request. If all
// connections have sent the token and have a request, the new connection is closed.
type connections struct {
	net.Listener
	most int

	mu   sync.Mutex
	open []*connection // oldest first
}

// connection is an open one.
type connection struct {
	net.Conn
	of    *connections
	known bool // has sent a request with the token
	idle  bool // waits for the next request
}

// Accept returns the next connection that has a place.
func (l *connections) Accept() (net.Conn, error) {
	for {
		got, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c, ok := l.admit(got); ok {
			return c, nil
		}
		_ = got.Close() // nothing was sent
	}
}

// admit gives a connection a place. If none is free, it closes another connection.
func (l *connections) admit(c net.Conn) (*connection, bool) {
	l.mu.Lock()
	var ended *connection
	if len(l.open) >= l.most {
		i := slices.IndexFunc(l.open, func(c *connection) bool { return !c.known })
		if i < 0 {
			i = slices.IndexFunc(l.open, func(c *connection) bool { return c.idle })
		}
		if i < 0 {
			l.mu.Unlock()
			return nil, false
		}
		ended = l.open[i]
		l.open = slices.Delete(l.open, i, i+1)
	}
	admitted := &connection{Conn: c, of: l}
	l.open = append(l.open, admitted)
	l.mu.Unlock()
	if ended != nil {
		_ = ended.Conn.Close() // its goroutine finds out
	}
	return admitted, true
}

// Close releases the place.
func (c *connection) Close() error {
	c.of.mu.Lock()
	if i := slices.Index(c.of.open, c); i >= 0 {
		c.of.open = slices.Delete(c.of.open, i, i+1)
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

// withConnection returns the context of a connection's requests.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// showsToken marks the connection of a request that had the token.
func showsToken(request context.Context) {
	if c, ok := request.Value(connectionKey{}).(*connection); ok {
		c.set(func() { c.known = true })
	}
}

// noteState records whether a connection is waiting for a request.
func noteState(c net.Conn, state http.ConnState) {
	if c, ok := c.(*connection); ok {
		c.set(func() { c.idle = state == http.StateIdle })
	}
}

func (c *connection) set(change func()) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	change()
}

// limits are the resources that a server gives its clients.
type limits struct {
	connections int           // open at once
	streams     int           // viewers that may follow a run
	busy        int           // requests that are computed at once
	header      time.Duration // for a request's header, and for one that does not come
	body        time.Duration // for a request's header and body
	answer      time.Duration // for a reader to take each part of an answer
}

// newLimits returns the limits of a process with n descriptors. Clients may use a quarter of them, so that a run in the
// same process always has enough.
func newLimits(n uint64) limits {
	const most, least = 512, 8
	connections := int(max(min(n/4, most), least))
	return limits{connections: connections, streams: connections / 2, busy: min(32, connections),
		header: 10 * time.Second, body: 30 * time.Second, answer: 10 * time.Second}
}

// server returns a server of a handler within the limits. It serves connections.
func (of limits) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           timeWrites(of.answer, h),
		ConnContext:       withConnection,
		ConnState:         noteState,
		ReadHeaderTimeout: of.header,
		ReadTimeout:       of.body,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 16,
		ErrorLog:          log.New(io.Discard, "", 0), // what clients do wrong is not the program's to print
	}
}
