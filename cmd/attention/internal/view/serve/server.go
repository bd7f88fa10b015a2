package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"attention/cmd/attention/internal/plot"
	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/view/follow"
	"attention/cmd/attention/internal/view/look"
	"attention/cmd/attention/internal/view/web"
)

// Config configures a Server.
type Config struct {
	Addr   string // to listen on; a port of 0 is any free one
	Models []*look.Model
	Text   string      // to look at first; empty is each model's example, and the chapter's own sentence
	Run    *follow.Run // whose training is shown; nil for none

	Chapter bool // the chapter's sections are shown, on the words of Text
}

// Server serves the page.
type Server struct {
	URL      string // of the page, with the token
	config   Config
	looks    *looks
	listener net.Listener
	server   *http.Server
	base     context.Context // of all requests; done when the server ends
	turns    *turns          // of the computations of heads
	moves    moves           // the answer to GET watched
}

// New listens on the address.
func New(c Config) (*Server, error) { return newServer(c, newLimits(descriptors())) }

func newServer(c Config, of limits) (*Server, error) {
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return nil, fmt.Errorf("--addr: got %q, want a host and a port, as in 127.0.0.1:0", c.Addr)
	}
	if host == "" {
		return nil, fmt.Errorf("--addr: got %q, want a host too, as in 127.0.0.1:0", c.Addr)
	}
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("--addr: %w", err)
	}
	s := &Server{config: c, looks: newLooks(c.Models), base: context.Background(), turns: newTurns(),
		listener: &connections{Listener: listener, most: of.connections}}
	token, hosts := newToken(), hostsOf(listener.Addr(), host)
	s.URL = "http://" + hosts[0] + "/" + token + "/"
	s.server = of.server(&guard{token: token, hosts: hosts, next: s.routes(of)})
	return s, nil
}

// Show makes the page show a run, and models over a text. It is called before Run, for which requests wait.
func (s *Server) Show(r *follow.Run, text string, models ...*look.Model) {
	s.config.Run, s.config.Text, s.config.Models, s.looks = r, text, models, newLooks(models)
}

// Run serves until the context ends. Then it sends the run's last state to the pages that follow it.
func (s *Server) Run(ctx context.Context) error {
	s.base = ctx
	s.server.BaseContext = func(net.Listener) context.Context { return ctx }
	ended := make(chan error, 1)
	go func() { ended <- s.server.Serve(s.listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := s.server.Shutdown(last); err != nil {
		return s.server.Close()
	}
	return nil
}

// Close ends a server that does not run.
func (s *Server) Close() error { return s.listener.Close() }

// routes are the handlers by method and path.
func (s *Server) routes(of limits) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", web.Handler())
	busy := make(chan struct{}, of.busy)
	handle := func(pattern string, f handler) { mux.Handle(pattern, f.within(busy)) }
	handle("GET /view", s.view)
	handle("POST /look", s.look)
	handle("GET /head", s.head)
	handle("GET /overview", s.overview)
	handle("GET /thumbnails", s.thumbnails)
	handle("GET /values", s.values)
	handle("GET /next", s.next)
	handle("GET /section", s.section)
	handle("GET /training", s.training)
	handle("GET /watched", s.recording)
	// A viewer holds its stream as long as it looks: streams have places of their own.
	mux.Handle("GET /events", limited(make(chan struct{}, of.streams), http.HandlerFunc(s.events)))
	return mux
}

// viewAnswer lists the models and panels that the page shows.
type viewAnswer struct {
	Version  string        `json:"version"`
	Models   []*look.Model `json:"models"`
	Text     string        `json:"text"`
	Training bool          `json:"training"`
	Chapter  []string      `json:"chapter,omitempty"` // titles of the sections
	Left     []string      `json:"left,omitempty"`    // what an exported page has no room for
	Light    plot.Palette  `json:"light"`             // colours of pictures on light and on dark paper
	Dark     plot.Palette  `json:"dark"`
}

// view returns what there is to see.
func (s *Server) view(*http.Request) (any, error) { return s.contents(), nil }

func (s *Server) contents() viewAnswer {
	c := s.config
	all := viewAnswer{Version: program.Version(), Models: c.Models, Text: c.Text, Training: c.Run != nil}
	all.Light, all.Dark = plot.Palettes()
	if c.Chapter {
		all.Chapter = look.Contents()
	}
	return all
}
