package serve

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
)

// newToken returns a token that nobody can guess.
func newToken() string { return rand.Text() }

// policy is the Content-Security-Policy of the page: it loads from this server only, and no other page may embed it.
const policy = "default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// guard passes on only the requests of the page itself: those to its host, with its token, and from no other page. The
// next handler sees paths without the token.
type guard struct {
	token string
	hosts []string // names of the server, including its port
	next  http.Handler
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !g.knows(r.Host) || !g.own(r) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	first, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || subtle.ConstantTimeCompare([]byte(first), []byte(g.token)) != 1 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	showsToken(r.Context())
	r.URL.Path = "/" + rest
	g.next.ServeHTTP(w, r)
}

// knows reports whether a Host header is this server's.
func (g *guard) knows(host string) bool {
	return slices.ContainsFunc(g.hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// own reports whether a request does not come from another page.
func (g *guard) own(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origin := r.Header.Get("Origin")
	return origin == "" || origin == "http://"+r.Host
}

// hostsOf returns the valid Host values, including the port, of requests to a server at an address.
func hostsOf(addr net.Addr, host string) []string {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil
	}
	names := []string{host}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		names = append(names, "127.0.0.1", "::1", "localhost")
	}
	hosts := make([]string, len(names))
	for i, name := range names {
		hosts[i] = net.JoinHostPort(name, port)
	}
	return hosts
}
