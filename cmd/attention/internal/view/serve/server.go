package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"attention/cmd/attention/internal/plot"
	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/view/follow"
	"attention/cmd/attention/internal/view/forward"
	"attention/cmd/attention/internal/view/web"
	"attention/train/tasks/reversal"
)

// Config configures a Server.
type Config struct {
	Addr   string // address to listen on; port 0 means any free port
	Models []*forward.Model
	Text   string      // initial text; empty means each model's example, and the chapter's sentence
	Run    *follow.Run // run whose training is shown; nil for none

	Chapter bool    // whether the chapter's sections are shown, for the words of Text
	Rivals  []Rival // models of the task reverse, if they are shown

	Folder *follow.Folder                    // folder of runs, which are listed; nil for none
	Open   func(path string) (Config, error) // opens a run of Folder
	chosen chosen                            // state chosen by a reader who exports the page
	isOne  bool                              // of the page of one run of a folder
}

// Server serves the page.
type Server struct {
	URL      string // of the page, with the token
	config   Config
	passes   *passes
	listener net.Listener
	server   *http.Server
	base     context.Context // closed when the server ends
	followed atomic.Bool     // whether a page has followed the run
	turns    *turns          // of the computations of heads
	moves    moves           // the answer to GET watched
	opened   opened
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
	s := newUnserved(c)
	s.listener = &connections{Listener: listener, most: of.connections}
	token, hosts := newToken(), hostsOf(listener.Addr(), host)
	s.URL = "http://" + hosts[0] + "/" + token + "/"
	s.server = of.server(&guard{token: token, hosts: hosts, next: s.routes(newPlaces(of))})
	return s, nil
}

// newUnserved makes a server that listens nowhere.
func newUnserved(c Config) *Server {
	return &Server{config: c, passes: newPasses(c.Models), base: context.Background(), turns: newTurns()}
}

// Show makes the page show a run, and models over a text. Call it before Run, because requests wait for Run.
func (s *Server) Show(r *follow.Run, text string, models ...*forward.Model) {
	s.config.Run, s.config.Text, s.config.Models, s.passes = r, text, models, newPasses(models)
}

// shutdownDelay is the time for which a server still answers after its end. Until they are notified, pages that follow
// the run may send requests.
const shutdownDelay = 200 * time.Millisecond

// Run serves until the context ends. Then it sends the run's last state to the pages that follow it.
func (s *Server) Run(ctx context.Context) error {
	s.base = ctx
	requests, cancelAll := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelAll()
	s.server.BaseContext = func(net.Listener) context.Context { return requests }
	ended := make(chan error, 1)
	go func() { ended <- s.server.Serve(s.listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if s.followed.Load() {
		time.Sleep(shutdownDelay)
	}
	cancelAll()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := s.server.Shutdown(last); err != nil {
		return s.server.Close()
	}
	return nil
}

// Present serves the page of a config at the address in the flags until the context ends, and prints its URL.
func (f *Flags) Present(ctx context.Context, c Config, out, notes io.Writer) error {
	c.Addr = f.Addr
	s, err := New(c)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", s.URL)
	program.Note(notes, "serving the page at this URL until Ctrl-C")
	f.OpenBrowser(s.URL, notes)
	return s.Run(ctx)
}

// Close ends a server that is not running.
func (s *Server) Close() error { return s.listener.Close() }

// places are those in which answers are computed and sent.
type places struct{ busy, streams chan struct{} }

func newPlaces(of limits) places {
	return places{make(chan struct{}, of.busy), make(chan struct{}, of.streams)}
}

// routes are the handlers by method and path.
func (s *Server) routes(p places) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", web.Handler())
	handle := func(pattern string, f handler) { mux.Handle(pattern, f.within(p.busy)) }
	handle("GET /view", s.view)
	handle("POST /forward", s.forward)
	handle("POST /page", s.page)
	handle("GET /head", s.head)
	handle("GET /overview", s.overview)
	handle("GET /thumbnails", s.thumbnails)
	handle("GET /tells", s.tells)
	handle("GET /values", s.values)
	handle("GET /journey", s.journey)
	handle("GET /next", s.next)
	handle("GET /section", s.section)
	handle("GET /reverse", s.reverse)
	handle("GET /training", s.training)
	handle("GET /watched", s.recording)
	handle("GET /runs", s.runs)
	handle("GET /curves", s.curves)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		mux.Handle(method+" /at/{run}/{rest...}", s.at(p))
	}
	// A viewer keeps its stream until it leaves, so streams have separate places.
	mux.Handle("GET /events", limited(p.streams, http.HandlerFunc(s.events)))
	return mux
}

// viewAnswer lists the models and panels that the page shows.
type viewAnswer struct {
	Version  string           `json:"version"`
	Models   []*forward.Model `json:"models"`
	Text     string           `json:"text"`
	Training bool             `json:"training"`
	Chapter  []string         `json:"chapter,omitempty"` // titles of the sections
	Reverse  *reversing       `json:"reverse,omitempty"`
	Runs     bool             `json:"runs,omitempty"`  // whether the runs of a folder are listed
	One      bool             `json:"one,omitempty"`   // whether it shows one run of a folder, whose page is at ../../
	Left     []string         `json:"left,omitempty"`  // parts that do not fit into an exported page
	State    string           `json:"state,omitempty"` // initial state of an exported page
	Light    plot.Palette     `json:"light"`           // colours of pictures, on light and on dark paper
	Dark     plot.Palette     `json:"dark"`
}

// view returns what there is to see.
func (s *Server) view(*http.Request) (any, error) { return s.contents(), nil }

func (s *Server) contents() viewAnswer {
	c := s.config
	all := viewAnswer{Version: program.Version(), Models: c.Models, Text: c.Text, Training: c.Run != nil,
		Runs: c.Folder != nil, One: c.isOne, State: c.chosen.State}
	all.Light, all.Dark = plot.Palettes()
	if c.Chapter {
		all.Chapter = forward.Contents()
	}
	if c.Rivals != nil {
		all.Reverse = &reversing{reversal.Letters, reversal.Shortest, reversal.Longest, c.Rivals}
	}
	return all
}
