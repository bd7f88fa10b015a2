package serve

import (
	"io"
	"log"
	"net/http"
	"time"
)

// limits are the resources that a server gives its clients.
type limits struct {
	connections int           // open at once
	streams     int           // viewers that may follow a run
	busy        int           // requests that are computed at once
	header      time.Duration // for a request's header, and for one that does not come
	body        time.Duration // for a request's header and body
	answer      time.Duration // for a reader to take each part of an answer
}

// newLimits returns the limits of a process that may open n descriptors. Clients get a quarter of them, so that a run
// that trains in the same process always finds some.
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
