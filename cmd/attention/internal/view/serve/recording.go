package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"sync"

	"attention/train/record"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// recordingAnswer describes the recording of a run's weights. It is empty for a run that has just begun.
type recordingAnswer struct {
	Records  []record.Record  `json:"records"`
	Moments  []int            `json:"moments,omitempty"`
	Probes   []recordedTensor `json:"probes,omitempty"`
	Matrices []recordedTensor `json:"matrices,omitempty"`
}

// recordedTensor names the array with the values of a probe or a matrix at all moments, and its shape.
type recordedTensor struct {
	Name  string            `json:"name"`
	Array string            `json:"array"`
	Shape []int             `json:"shape"`
	Text  *text.WeightTexts `json:"text,omitempty"` // of a probe
}

// moves is the recorded changes of a run's weights, packed once for all requests.
type moves struct {
	mu     sync.Mutex
	of     *record.Recording
	packed bytesPacked
}

// recording returns the recording of the run's weights.
func (s *Server) recording(r *http.Request) (any, error) {
	if s.config.Run == nil {
		return nil, errNoRun
	}
	w, err := s.config.Run.Recording(r.Context())
	if errors.Is(err, fs.ErrNotExist) {
		return &pack{About: &recordingAnswer{Records: []record.Record{}}}, nil
	}
	if err != nil {
		return nil, err
	}
	m := &s.moves
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == w {
		return m.packed, nil
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	p, err := packMoves(w)
	if err != nil {
		return nil, err
	}
	if m.packed, err = p.bytes(); err != nil {
		return nil, err
	}
	m.of = w
	return m.packed, nil
}

// packMoves packs what a run recorded of its weights.
func packMoves(w *record.Recording) (*pack, error) {
	answer := &recordingAnswer{Records: append([]record.Record{}, w.Records...), Moments: w.Steps} // not null in JSON
	p := &pack{About: answer}
	addAll := func(kind string, values map[string]*tensor.Dense) (all []recordedTensor) {
		for i, name := range slices.Sorted(maps.Keys(values)) {
			t := recordedTensor{Name: name, Array: fmt.Sprint(kind, i), Shape: values[name].Shape()}
			add(p, t.Array, values[name].Float32s())
			all = append(all, t)
		}
		return all
	}
	answer.Probes, answer.Matrices = addAll("probe", w.Probe), addAll("matrix", w.Matrices)
	for i := range answer.Probes {
		t := &answer.Probes[i]
		about, err := text.ReadWeightTexts(w.Notes[t.Name], tensor.Shape(t.Shape[1:]))
		if err != nil {
			return nil, fmt.Errorf("note %.100q: %w", t.Name, err)
		}
		t.Text = &about
	}
	return p, nil
}
