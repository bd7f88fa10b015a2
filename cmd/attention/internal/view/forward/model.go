package forward

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/train/checkpoint"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Model is a model whose attention can be seen.
type Model struct {
	Name    string   `json:"name"`  // of its folder
	Title   string   `json:"title"` // what it is
	Notes   []string `json:"notes,omitempty"`
	Most    int      `json:"most"`    // tokens of a text
	Example string   `json:"example"` // an example text that it can read

	IsSample bool `json:"sample,omitempty"` // whether it is part of the program

	IsLive bool `json:"live,omitempty"` // whether a run still trains it
	Steps  int  `json:"-"`              // steps of the run that the weights have had; 0 if that is not known

	encodes bool // reads the weights of a checkpoint at each call

	open func() (network, error)                   // reads the weights of a checkpoint each time
	now  func(ctx context.Context) (*Model, error) // returns the model of a run that trains; nil for other models
}

// network is a model of some kind.
type network interface {
	fmt.Stringer
	params() *layers.Params
	most() int
	example() string
	// read reads a text and the tokens that follow it. Its errors begin with "text: ", as those of tokenizers do, or with
	// "then: ".
	read(text string, then []int) (reading, error)
}

// reading is the input of a network: a text, or a text and its translation.
type reading interface {
	// build makes the inputs in a graph and returns the logits (N, V) of N next tokens.
	build(b *layers.Build) *G.Node
	// place returns the purpose of the layer at a path, and the numbers of its sequences.
	place(path string) place
	// hide makes a build hide tokens, by their positions among all tokens of the reading.
	hide(b *layers.Build, positions []int) error
	// run computes the graph and finishes the pass.
	run(ctx context.Context, f *passGraph, l *Pass) error
}

// place is the role of a layer, and the numbers of the sequences of its queries and keys.
type place struct {
	Role    string `json:"role,omitempty"`
	Queries int    `json:"queries"`
	Keys    int    `json:"keys"`
}

// newest, in place of a number of steps, requests the weights in the folder itself, not those of one of its
// checkpoints.
const newest = -1

// Open is OpenFrom for a folder or the file of a checkpoint.
func Open(path string) (*Model, error) { return OpenFrom(models.Source{Dir: path}) }

// OpenFrom reads a model from a folder or from the file of a checkpoint. Each pass reads a checkpoint again; OpenFrom
// also reads it, so that a damaged checkpoint is an error.
func OpenFrom(from models.Source) (*Model, error) {
	dir, steps, ok := models.CheckpointAt(from.Dir)
	if !ok {
		dir, steps = from.Dir, newest
	}
	from.Dir = dir
	n, name, notes, err := openNetwork(from, steps)
	if err != nil {
		return nil, err
	}
	if ok {
		return newModel(checkpointName(dir, steps), n, opener(from, steps)), nil
	}
	m := newModel(name, n, func() (network, error) { return n, nil })
	m.Notes = notes
	return m, nil
}

// openNetwork reads a network and its name, with its newest weights or with those of the checkpoint after some steps.
func openNetwork(from models.Source, steps int) (n network, name string, notes []string, err error) {
	in, err := from.Inspect(io.Discard)
	if err != nil {
		return nil, "", nil, err
	}
	if in.Kind == settings.DatesModel {
		if n, notes, err = openTranslation(in, steps); err != nil {
			return nil, "", nil, in.Named(err)
		}
		return n, in.Name(), notes, nil
	}
	n, notes, ok, err := openEncoding(in, from.Base)
	if err != nil {
		return nil, "", nil, in.Named(err)
	}
	if ok {
		return n, in.Name(), notes, nil
	}
	open := in.Open
	if steps != newest {
		open = func() (*models.OpenModel, error) { return in.OpenAt(steps) }
	}
	m, err := open()
	if err != nil {
		return nil, "", nil, in.Named(err)
	}
	return language{m}, in.Name(), m.Notes, nil
}

func newModel(name string, n network, open func() (network, error)) *Model {
	_, encodes := n.(encoding)
	return &Model{Name: name, Title: n.String(), Most: n.most(), Example: n.example(), open: open, encodes: encodes}
}

// opener returns a function that reads the network of a run at a checkpoint.
func opener(from models.Source, steps int) func() (network, error) {
	return func() (network, error) {
		n, _, _, err := openNetwork(from, steps)
		return n, err
	}
}

func checkpointName(dir string, steps int) string {
	return fmt.Sprintf("%s, step %d", models.Name(dir), steps)
}

// Checkpoints returns the models of a run at each of its checkpoints, the oldest first. m is the run's own model.
// Weights are read when a model is looked at.
func (m *Model) Checkpoints(from models.Source) (all []*Model) {
	steps, err := checkpoint.Steps(filepath.Join(from.Dir, settings.CheckpointsFolder))
	if err != nil || m.encodes {
		return nil // not a run's folder, or one of an encoder, whose checkpoints are not read one by one
	}
	for _, n := range steps {
		at := *m
		at.Name, at.Notes, at.open = checkpointName(from.Dir, n), nil, opener(from, n)
		all = append(all, &at)
	}
	return all
}

// Of returns a model for a network that is already open. Its weights are those after some steps of a run.
func Of(name string, m *models.OpenModel, steps int) *Model {
	n := language{m}
	of := newModel(name, n, func() (network, error) { return n, nil })
	of.Notes, of.Steps = m.Notes, steps
	return of
}

// Live returns the model of a run that trains. Each pass uses the model that now returns, with the weights of that
// moment.
func Live(name string, m settings.Model, now func(ctx context.Context) (*Model, error)) *Model {
	return &Model{Name: name, Title: m.String(), Most: m.Context(), IsLive: true, now: now}
}

// Now returns the model with the weights at this moment. The returned weights do not change.
func (m *Model) Now(ctx context.Context) (*Model, error) {
	if m.now == nil {
		return m, nil
	}
	return m.now(ctx)
}

// MaxText is the most bytes of a text.
const MaxText = 1 << 20

// Forward returns the pass over a text. If a text is longer than the window of a language model, the pass has only its
// last tokens.
func (m *Model) Forward(ctx context.Context, r Request) (*Pass, error) {
	if len(r.Text) > MaxText {
		return nil, fmt.Errorf("text: got %d bytes, want at most %d", len(r.Text), MaxText)
	}
	n, err := m.open()
	if err != nil {
		return nil, err
	}
	text, err := n.read(r.Text, r.Then)
	if err != nil {
		return nil, err
	}
	l := &Pass{Name: m.Name, Steps: m.Steps}
	l.journeys.request = r
	l.journeys.open.Store(&m.open)
	f, err := newPassGraph(n.params(), text, r)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if err := text.run(ctx, f, l); err != nil {
		return nil, err
	}
	return l, f.keep(l)
}

// let sets the value of an input.
func let(input *G.Node, ids []int) error {
	return G.Let(input, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids)))
}
