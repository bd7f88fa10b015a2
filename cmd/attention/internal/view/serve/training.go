package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"time"

	"attention/cmd/attention/internal/run"
	"attention/train"
)

// pollEvery is how often a run's folder is read while somebody looks.
const pollEvery = 500 * time.Millisecond

// training returns the state of the run.
func (s *Server) training(*http.Request) (any, error) {
	if s.config.Run == nil {
		return nil, errors.New("run: got none, want attention view --run DIR")
	}
	if err := s.config.Run.Update(); err != nil {
		return nil, err
	}
	return s.config.Run.State(), nil
}

// events tells of each change of the run, as server-sent events whose data is the version of the state. The last one,
// "end", has the state itself: the server ends then.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if s.config.Run == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for told := ""; ; {
		event := ""
		if err := s.config.Run.Update(); err != nil {
			event = fmt.Sprintf("event: wrong\ndata: %q\n\n", err.Error())
		} else {
			event = fmt.Sprintf("data: %d\n\n", s.config.Run.Version())
		}
		if event != told {
			told = event
			if _, err := io.WriteString(w, event); err != nil || stream.Flush() != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			if s.base.Err() != nil {
				_ = s.tellEnd(w) // the browser may have gone
				_ = stream.Flush()
			}
			return
		case <-ticker.C:
		}
	}
}

// tellEnd writes the last event.
func (s *Server) tellEnd(w io.Writer) error {
	state, err := s.training(nil)
	if err != nil {
		return err
	}
	text, err := json.Marshal(state)
	if err == nil {
		_, err = fmt.Fprintf(w, "event: end\ndata: %s\n\n", text)
	}
	return err
}

// watched returns what the run recorded of its weights.
func (s *Server) watched(*http.Request) (any, error) {
	if s.config.Run == nil {
		return nil, errors.New("run: got none, want attention view --run DIR")
	}
	w, err := s.config.Run.Watched()
	if errors.Is(err, fs.ErrNotExist) {
		return newPack(map[string]any{"records": []train.WatchRecord{}}), nil
	}
	if err != nil {
		return nil, err
	}
	return packWatched(w)
}

// packWatched packs the records and the tensors of the moments.
func packWatched(w *train.Watched) (*pack, error) {
	p := newPack(map[string]any{"records": w.Records, "moments": w.Moments})
	var probes, matrices []map[string]any
	for i, name := range slices.Sorted(maps.Keys(w.Probe)) {
		text, err := run.ProbeTextOf(w, name)
		if err != nil {
			return nil, err
		}
		array := fmt.Sprintf("probe%d", i)
		probes = append(probes, map[string]any{"name": name, "array": array, "shape": w.Probe[name].Shape(), "text": text})
		addPacked(p, array, w.Probe[name].Float32s())
	}
	for i, name := range slices.Sorted(maps.Keys(w.Matrices)) {
		array := fmt.Sprintf("matrix%d", i)
		matrices = append(matrices, map[string]any{"name": name, "array": array, "shape": w.Matrices[name].Shape()})
		addPacked(p, array, w.Matrices[name].Float32s())
	}
	p.header["probes"], p.header["matrices"] = probes, matrices
	return p, nil
}
