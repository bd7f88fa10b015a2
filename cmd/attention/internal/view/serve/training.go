package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// pollEvery is how often a run's folder is read while somebody looks.
const pollEvery = 500 * time.Millisecond

// errNoRun is the error for a request about a run if the server has none.
var errNoRun = errors.New("run: got none, want attention view --run DIR")

// training returns the state of the run.
func (s *Server) training(*http.Request) (any, error) {
	if s.config.Run == nil {
		return nil, errNoRun
	}
	if err := s.config.Run.Update(); err != nil {
		return nil, err
	}
	return s.config.Run.State(), nil
}

// events sends the version and the stage of the run's state at every change, as server-sent events. The last event,
// "end", has the state itself: the server ends then.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if s.config.Run == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.followed.Store(true)
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for sent := ""; ; {
		event := ""
		if err := s.config.Run.Update(); err != nil {
			event = fmt.Sprintf("event: wrong\ndata: %q\n\n", err.Error())
		} else {
			event = fmt.Sprintf("data: %d %s\n\n", s.config.Run.Version(), s.config.Run.Stage())
		}
		if event != sent {
			sent = event
			if _, err := io.WriteString(w, event); err != nil || stream.Flush() != nil {
				return
			}
		}
		select {
		case <-s.base.Done():
		case <-r.Context().Done():
		case <-ticker.C:
		}
		if s.base.Err() != nil { // even if the request has ended meanwhile
			_ = s.sendEnd(w) // the browser may have disconnected
			_ = stream.Flush()
			return
		}
		if r.Context().Err() != nil {
			return
		}
	}
}

// sendEnd writes the last event.
func (s *Server) sendEnd(w io.Writer) error {
	state, err := s.training(nil)
	if err != nil {
		return err
	}
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "event: end\ndata: %s\n\n", text)
	return err
}
