package serve

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
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

// admit gives a connection a place, another one's if there is no other.
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

// Close gives the place back.
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

// showsToken notes that the connection of a request has shown the token.
func showsToken(request context.Context) {
	if c, ok := request.Value(connectionKey{}).(*connection); ok {
		c.set(func() { c.known = true })
	}
}

// noteState notes whether a connection waits for a request.
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
