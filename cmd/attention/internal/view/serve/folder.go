package serve

import (
	"errors"
	"net/http"
	"slices"
	"sync"

	"attention/cmd/attention/internal/view/follow"
)

// maxOpened is how many runs of a folder are kept open.
const maxOpened = 3

// opened are the pages of single runs of a folder. The page of a run is at at/NAME/.
type opened struct {
	mu  sync.Mutex
	all []openedRun // in order of their last use
}

// openedRun is the page of a run.
type openedRun struct {
	name string
	page http.Handler
}

var errNoFolder = errors.New("runs: got a request for them, want attention view --run DIR of a folder of runs")

// runs describes the runs of the folder.
func (s *Server) runs(*http.Request) (any, error) {
	if s.config.Folder == nil {
		return nil, errNoFolder
	}
	return s.config.Folder.List()
}

// curves returns the state and the curves of a run of the folder.
func (s *Server) curves(r *http.Request) (any, error) {
	if s.config.Folder == nil {
		return nil, errNoFolder
	}
	state, err := s.config.Folder.State(r.URL.Query().Get("run"))
	if err != nil {
		return nil, err
	}
	state.Samples = []follow.Sample{} // not null in JSON
	return state, nil
}

// at serves the page of a run of the folder.
func (s *Server) at(p places) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.config.Folder == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		page, err := s.openRun(r.PathValue("run"), p)
		if err != nil {
			writeError(w, http.StatusNotFound, err)
			return
		}
		r.URL.Path = "/" + r.PathValue("rest")
		page.ServeHTTP(w, r)
	})
}

// openRun returns the page of a run. Only the pages of the last few runs stay open; another run is opened again.
func (s *Server) openRun(name string, p places) (http.Handler, error) {
	path, err := s.config.Folder.Path(name)
	if err != nil {
		return nil, err
	}
	o := &s.opened
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.IndexFunc(o.all, func(r openedRun) bool { return r.name == name }); i >= 0 {
		got := o.all[i]
		o.all = append(slices.Delete(o.all, i, i+1), got)
		return got.page, nil
	}
	c, err := s.config.Open(path)
	if err != nil {
		return nil, err
	}
	c.isOne = true
	one := newUnserved(c)
	one.base = s.base
	if o.all = append(o.all, openedRun{name, one.routes(p)}); len(o.all) > maxOpened {
		o.all = o.all[1:]
	}
	return o.all[len(o.all)-1].page, nil
}
