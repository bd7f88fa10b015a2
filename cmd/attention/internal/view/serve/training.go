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

	"attention/train/record"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// pollEvery is how often a run's folder is read while somebody looks.
const pollEvery = 500 * time.Millisecond

// errNoRun is the error of a request about the run of a server that has none.
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

// events sends the version of the run's state each time that it changes, as server-sent events. The last event, "end",
// has the state itself: the server ends then.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if s.config.Run == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for sent := ""; ; {
		event := ""
		if err := s.config.Run.Update(); err != nil {
			event = fmt.Sprintf("event: wrong\ndata: %q\n\n", err.Error())
		} else {
			event = fmt.Sprintf("data: %d\n\n", s.config.Run.Version())
		}
		if event != sent {
			sent = event
			if _, err := io.WriteString(w, event); err != nil || stream.Flush() != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			if s.base.Err() != nil {
				_ = s.sendEnd(w) // the browser may have gone
				_ = stream.Flush()
			}
			return
		case <-ticker.C:
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

// watchedAnswer describes what a run recorded of its weights; nothing yet, of a run that has begun.
type watchedAnswer struct {
	Records  []record.Record `json:"records"`
	Moments  []int           `json:"moments,omitempty"`
	Probes   []watchedTensor `json:"probes,omitempty"`
	Matrices []watchedTensor `json:"matrices,omitempty"`
}

// watchedTensor is the values of a probe or a matrix at all moments: which of the arrays, and its shape.
type watchedTensor struct {
	Name  string            `json:"name"`
	Array string            `json:"array"`
	Shape []int             `json:"shape"`
	Text  *text.WeightTexts `json:"text,omitempty"` // of a probe
}

// watched returns what the run recorded of its weights.
func (s *Server) watched(*http.Request) (any, error) {
	if s.config.Run == nil {
		return nil, errNoRun
	}
	w, err := s.config.Run.Watched()
	if errors.Is(err, fs.ErrNotExist) {
		return &pack{About: &watchedAnswer{Records: []record.Record{}}}, nil
	}
	if err != nil {
		return nil, err
	}
	answer := &watchedAnswer{Records: w.Records, Moments: w.Steps}
	p := &pack{About: answer}
	addAll := func(kind string, values map[string]*tensor.Dense) (all []watchedTensor) {
		for i, name := range slices.Sorted(maps.Keys(values)) {
			t := watchedTensor{Name: name, Array: fmt.Sprint(kind, i), Shape: values[name].Shape()}
			add(p, t.Array, values[name].Float32s())
			all = append(all, t)
		}
		return all
	}
	answer.Probes, answer.Matrices = addAll("probe", w.Probe), addAll("matrix", w.Matrices)
	for i := range answer.Probes {
		t := &answer.Probes[i]
		about, err := text.ReadWeightTexts(w.Notes[t.Name], t.Shape)
		if err != nil {
			return nil, fmt.Errorf("note %.100q: %w", t.Name, err)
		}
		t.Text = &about
	}
	return p, nil
}
