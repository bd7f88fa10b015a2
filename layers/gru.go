package layers

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"attention/graph"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// GRUConfig sizes a GRU.
type GRUConfig struct {
	InputSize     int  `json:"input_size"`           // E
	HiddenSize    int  `json:"hidden_size"`          // N
	NumLayers     int  `json:"num_layers,omitempty"` // L; 0 means 1
	Bias          bool `json:"bias,omitempty"`
	Bidirectional bool `json:"bidirectional,omitempty"` // a second run from the last token to the first
}

// validate returns an error that names the first wrong field.
func (c GRUConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "InputSize", "HiddenSize"), config.AtLeast(c, 0, "NumLayers"),
		config.AtMost(c, 1<<14, "NumLayers"), config.AtMost(c, maxElements/3, "InputSize", "HiddenSize"))
	if err != nil {
		return err
	}
	if 3*c.HiddenSize > maxElements/max(c.InputSize, 2*c.HiddenSize) {
		return config.Errorf(c, "HiddenSize", "got %d for %s=%d, want at most %d elements in a weight", c.HiddenSize,
			config.Field("InputSize"), c.InputSize, maxElements)
	}
	return nil
}

// GRU is a stack of gated recurrent units (Cho et al. 2014; torch.nn.GRU with batch_first).
// See graph.GRU for the formula.
type GRU struct {
	name   string // in errors
	config GRUConfig
	runs   []gruRun // of layer 0, forwards and back, of layer 1, …
}

// gruRun is one layer in one direction.
type gruRun struct{ weightIH, weightHH, biasIH, biasHH Param }

// NewGRU makes the parameters of each layer l: weight_ih_l<l> (3·N, width of its input),
// weight_hh_l<l> (3·N, N) and, with Bias, bias_ih_l<l> and bias_hh_l<l> (3·N); then the same
// for the other direction, with names that end with _reverse. All are uniform within ±1/√N.
func NewGRU(s Scope, c GRUConfig) (*GRU, error) { return checked(s, "GRU", c, newGRU) }

func newGRU(s Scope, c GRUConfig) (*GRU, error) {
	c.NumLayers = cmp.Or(c.NumLayers, 1)
	m := maker{scope: s}
	l := &GRU{name: s.name("GRU"), config: c}
	bound := 1 / math.Sqrt(float64(c.HiddenSize))
	begin, rows := Uniform(-bound, bound), 3*c.HiddenSize
	for i := range c.NumLayers {
		in := c.InputSize
		if i > 0 {
			in = l.directions() * c.HiddenSize
		}
		for _, suffix := range []string{"", "_reverse"}[:l.directions()] {
			name := func(kind string) string { return fmt.Sprintf("%s_l%d%s", kind, i, suffix) }
			l.runs = append(l.runs, gruRun{
				weightIH: m.param(name("weight_ih"), begin, rows, in),
				weightHH: m.param(name("weight_hh"), begin, rows, c.HiddenSize),
				biasIH:   m.paramIf(c.Bias, name("bias_ih"), begin, rows),
				biasHH:   m.paramIf(c.Bias, name("bias_hh"), begin, rows),
			})
		}
	}
	return done(&m, l)
}

func (l *GRU) directions() int {
	if l.config.Bidirectional {
		return 2
	}
	return 1
}

// Forward maps x ([B,] T, E) to the last layer's states after each token, ([B,] T, directions·N), with the directions
// side by side, and every run's state at its end, (L·directions, [B,] N), in the order of the parameters. before, of the
// shape of the latter, is the state before the first token; nil means 0. lengths, int or int64 (B), are those of the
// sequences: tokens beyond do not change the state; nil means T.
func (l *GRU) Forward(b *Build, x, before, lengths *G.Node) (output, state *G.Node, err error) {
	f := begin(b, l.name)
	if !f.isSequence("x", x, l.config.InputSize, 0) {
		return nil, nil, f.failure()
	}
	batch, n := x.Shape()[:x.Dims()-2], l.config.HiddenSize
	want := slices.Concat(tensor.Shape{len(l.runs)}, batch, tensor.Shape{n})
	if before != nil && !slices.Equal(before.Shape(), want) {
		return nil, nil, errorf(l.name, "state: shape %v, want %v", before.Shape(), want)
	}
	var ends G.Nodes
	for first := 0; first < len(l.runs); first += l.directions() {
		var outs G.Nodes
		for d, run := range l.runs[first:][:l.directions()] {
			gates := f.linear(x, run.weightIH, run.biasIH, false) // ([B,] T, 3·N)
			c := graph.GRUConfig{Reverse: d == 1, Lengths: lengths, Precision: b.precision}
			out := f.Of(graph.GRU(gates, f.start(before, first+d, want[1:]), f.node(run.weightHH),
				f.optional(run.biasHH), c)) // ([B,] T, N)
			outs, ends = append(outs, out), append(ends, f.end(out, d == 1))
		}
		x = f.Of(graph.Concat(outs...)) // ([B,] T, directions·N)
	}
	state = f.Of(G.Reshape(f.Of(graph.Concat(ends...)), want))
	if f.Err() != nil {
		return nil, nil, f.failure()
	}
	return x, state, nil
}

// step returns the state (B, 1, N) after one more token x (B, 1, E), of a GRU of one layer
// in one direction.
func (l *GRU) step(f *formula, x, state *G.Node) *G.Node {
	if f.Err() != nil {
		return x
	}
	run := l.runs[0]
	gates := f.linear(x, run.weightIH, run.biasIH, false) // (B, 1, 3·N)
	before := f.Of(G.Reshape(state, tensor.Shape{x.Shape()[0], l.config.HiddenSize}))
	return f.Of(graph.GRU(gates, before, f.node(run.weightHH), f.optional(run.biasHH),
		graph.GRUConfig{Precision: f.b.precision}))
}

// start returns the state ([B,] N) before run i, cut from the states of all runs; nil stays nil.
func (f *formula) start(all *G.Node, i int, shape tensor.Shape) *G.Node {
	if all == nil {
		return nil
	}
	return f.Of(G.Reshape(f.Of(graph.Rows(all, i, 1)), shape))
}

// end returns the state at a run's end as a vector, cut from its states ([B,] T, N).
func (f *formula) end(out *G.Node, reverse bool) *G.Node {
	if f.Err() != nil {
		return out
	}
	n, t := last(out), length(out)
	sequences := f.Of(G.Reshape(out, tensor.Shape{out.Shape().TotalSize() / (n * t), t * n}))
	widths, at := []int{(t - 1) * n, n}, 1
	if reverse {
		widths, at = []int{n, (t - 1) * n}, 0
	}
	end := sequences
	if t > 1 {
		end = f.split(sequences, widths...)[at] // (B, N)
	}
	return f.Of(G.Reshape(end, tensor.Shape{end.Shape().TotalSize()}))
}
