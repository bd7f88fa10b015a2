package look

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"attention/cmd/attention/internal/run"
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Model is a model whose attention can be seen.
type Model struct {
	Name  string   `json:"name"`  // of its folder
	Title string   `json:"title"` // what it is
	Notes []string `json:"notes,omitempty"`
	Most  int      `json:"most"` // tokens of a text

	IsLive bool `json:"live,omitempty"` // whether a run still trains it
	Steps  int  `json:"-"`              // that its weights are after, of a run; 0 if that is not known

	open *run.OpenModel
	now  func(ctx context.Context) (*Model, error) // of a run that trains; nil for others
}

// Open reads the model of a folder.
func Open(dir string) (*Model, error) {
	m, err := run.Open(dir)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &Model{Name: filepath.Base(name), Title: m.Model.String(), Notes: m.Notes, Most: m.Model.Context(),
		open: m}, nil
}

// HasModel reports whether a run folder holds a model already: weights, or a checkpoint.
func HasModel(dir string) bool {
	_, err := Open(dir)
	return err == nil
}

// Request is a text to look at, and what to change in the model.
type Request struct {
	Text  string `json:"text"`
	Hide  []int  `json:"hide,omitempty"`  // positions of tokens that no other token sees
	Heads []Head `json:"heads,omitempty"` // whose outputs are scaled
}

// Head is a head of a layer, by their numbers from 0, and the factor of its output.
type Head struct {
	Layer  int     `json:"layer"`
	Head   int     `json:"head"`
	Factor float64 `json:"factor"`
}

// MaxText is the most bytes of a text.
const MaxText = 1 << 20

// See computes a look at a text. A text that is longer than the model's window is cut to its last tokens.
func (m *Model) See(ctx context.Context, r Request) (*Look, error) {
	if len(r.Text) > MaxText {
		return nil, fmt.Errorf("text: got %d bytes, want at most %d", len(r.Text), MaxText)
	}
	ids, err := m.open.Tokenizer.Encode(r.Text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("text: %w", err)
	case len(ids) == 0 && m.open.EndOfText >= 0:
		ids = []int{m.open.EndOfText}
	case len(ids) == 0:
		return nil, errors.New("text: got none, want some to look at")
	}
	l := &Look{Model: m.name(), Request: r}
	if cut := len(ids) - m.Most; cut > 0 {
		ids, l.Cut = ids[cut:], cut
	}
	tokens, err := tokensOf(m.open.Tokenizer, ids)
	if err != nil {
		return nil, err
	}
	l.Sequences = []Sequence{{"text", tokens}}
	f, err := m.build(r, len(ids))
	if err != nil {
		return nil, err
	}
	defer f.close()
	if err := G.Let(f.ids, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))); err != nil {
		return nil, err
	}
	if err := f.machine.Run(ctx); err != nil {
		return nil, err
	}
	if err := f.read(l); err != nil {
		return nil, err
	}
	l.Next, err = candidates(m.open.Tokenizer, f.logits.Value().(*tensor.Dense))
	return l, err
}

// change applies what the request changes to a build of n tokens.
func (r Request) change(b *layers.Build, known []layerNodes, n int) error {
	if len(r.Hide) > 0 {
		keep := tensor.Ones(tensor.Int, n)
		for _, at := range r.Hide {
			if at < 0 || at >= n {
				return fmt.Errorf("hide: got position %d, want 0 to %d", at, n-1)
			}
			keep.Ints()[at] = 0
		}
		b.Mask(mask.Keep{Keep: b.Graph().Constant(keep)}, "*")
	}
	factors := map[int][]float64{}
	for _, h := range r.Heads {
		if h.Layer < 0 || h.Layer >= len(known) || h.Head < 0 || h.Head >= known[h.Layer].heads() {
			return fmt.Errorf("heads: got head %d of layer %d, want those of the model", h.Head, h.Layer)
		}
		if factors[h.Layer] == nil {
			factors[h.Layer] = make([]float64, known[h.Layer].heads())
			for i := range factors[h.Layer] {
				factors[h.Layer][i] = 1
			}
		}
		factors[h.Layer][h.Head] = h.Factor
	}
	for layer, f := range factors {
		b.ScaleHeads(f, known[layer].path)
	}
	return nil
}
