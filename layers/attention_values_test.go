package layers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

const attentionFile = "torch/attention.safetensors"

// attentionNames are the names of the cases in the file; they must equal those of attentionCases.
func attentionNames(t *testing.T, file *golden.File) (list []string) {
	cases := attentionCases()
	for _, entry := range file.Names() {
		if name, isCase := strings.CutSuffix(entry, ".out"); isCase {
			require.Contains(t, cases, name)
			list = append(list, name)
		}
	}
	require.Len(t, list, len(cases))
	return list
}

// Outputs, weights and the gradients of every input and parameter, as PyTorch has
// them, by either form of attention. The file's numbers are exact for inputs and
// computed in float64 from them; torchTypes has the tolerances.
func TestAttentionEqualsPyTorch(t *testing.T) {
	file := golden.Load(t, attentionFile)
	for _, name := range attentionNames(t, file) {
		for _, p := range torchTypes {
			c := newAttentionCase(torchCase{file, name + ".", p.dt, p.tol})
			for _, withWeights := range []bool{true, false} {
				c.test(t, withWeights, false)
				if c.has("hidden") || c.has("padding") {
					c.test(t, withWeights, true)
				}
			}
		}
	}
}

type attentionCase struct {
	torchCase
	config layers.AttentionConfig
	all    []string // its entries
}

func newAttentionCase(c torchCase) attentionCase {
	return attentionCase{c, attentionCases()[strings.TrimSuffix(c.prefix, ".")], c.entries("")}
}

func (c attentionCase) has(entry string) bool { return slices.Contains(c.all, entry) }

func (c attentionCase) near(t *testing.T, entry string, n *G.Node, got []float64) {
	require.Equal(t, c.file.Shape(c.prefix+entry), []int(n.Shape()), c.prefix+entry)
	what := fmt.Sprintf("%s%s in %v", c.prefix, entry, c.dt)
	golden.Close(t, what, c.file.Float64(c.prefix+entry), got, c.tol, c.tol)
}

// float returns an input of an entry, nil if there is none.
func (c attentionCase) float(t *testing.T, b *layers.Build, entry string) *G.Node {
	if !c.has(entry) {
		return nil
	}
	return input(t, b, entry, c.load(entry))
}

// integers returns an integer input of an entry, nil if there is none.
func (c attentionCase) integers(t *testing.T, b *layers.Build, entry string) *G.Node {
	if !c.has(entry) {
		return nil
	}
	return input(t, b, entry, of(c.file.Int64(c.prefix+entry), c.file.Shape(c.prefix+entry)...))
}

// input returns the input of the case's call. With rules, it uses mask types in place of nodes where possible.
func (c attentionCase) input(t *testing.T, b *layers.Build, rules bool) layers.AttentionInput {
	in := layers.AttentionInput{
		Query: c.float(t, b, "query"), Key: c.float(t, b, "key"), Value: c.float(t, b, "value"), Bias: c.float(t, b, "bias"),
		Positions: c.integers(t, b, "positions"), KeyPositions: c.integers(t, b, "key_positions"),
	}
	var masks []mask.Mask
	if c.has("hidden") && !(rules && c.config.Mask != nil) {
		masks = append(masks, mask.Keep{Keep: c.shown(t, b, "hidden", c.file.Shape(c.prefix+"hidden")...)})
	}
	if c.has("padding") {
		masks = append(masks, c.padding(t, b, rules))
	}
	if s := c.integers(t, b, "segments"); s != nil {
		masks = append(masks, mask.Segments{Query: s, Key: c.integers(t, b, "key_segments")})
	}
	if s := c.integers(t, b, "starts"); s != nil {
		masks = append(masks, mask.CausalAt{Start: s})
	}
	if n := c.integers(t, b, "lengths"); n != nil {
		masks = append(masks, mask.KeyLengths{Lengths: n})
	}
	for _, m := range masks {
		if in.Mask == nil {
			in.Mask = m
		} else {
			in.Mask = mask.And(in.Mask, m)
		}
	}
	return in
}

// shown returns an input of the case's type that is 1 where an entry is false.
func (c attentionCase) shown(t *testing.T, b *layers.Build, entry string, shape ...int) *G.Node {
	var shown []float64
	for _, hidden := range c.file.Bool(c.prefix + entry) {
		v := 1.0
		if hidden {
			v = 0
		}
		shown = append(shown, v)
	}
	return input(t, b, entry, golden.Dense(c.dt, shown, shape...))
}

// padding hides the keys of a key_padding_mask ([B,] S); if rules is true and it is possible, by the number of keys.
func (c attentionCase) padding(t *testing.T, b *layers.Build, rules bool) mask.Mask {
	shape := c.file.Shape(c.prefix + "padding")
	S := shape[len(shape)-1]
	var lengths []int
	atEnd := true
	for row := range slices.Chunk(c.file.Bool(c.prefix+"padding"), S) {
		n := slices.Index(append(row, true), true)
		lengths = append(lengths, n)
		atEnd = atEnd && !slices.Contains(row[n:], false)
	}
	if rules && atEnd {
		n := of(lengths, len(lengths))
		if len(shape) == 1 {
			n = tensor.New(tensor.FromScalar(lengths[0]))
		}
		return mask.KeyLengths{Lengths: input(t, b, "lengths", n)}
	}
	if len(shape) == 2 {
		shape = []int{shape[0], 1, 1, S}
	}
	return mask.Keep{Keep: c.shown(t, b, "padding", shape...)}
}

// layer returns the case's layer with its parameters.
func (c attentionCase) layer(t *testing.T) (*layers.Params, *layers.Attention) {
	p := layers.NewParams(c.dt, 1)
	l := must(layers.NewAttention(p.Scope(""), c.config))
	require.ElementsMatch(t, c.entries("param."), names(p))
	for name := range p.All() {
		require.NoError(t, p.Set(name, c.load("param."+name)))
	}
	return p, l
}

func (c attentionCase) test(t *testing.T, withWeights, rules bool) {
	p, l := c.layer(t)
	b := layers.NewBuild(p, layers.Train)
	in := c.input(t, b, rules)
	var wrt G.Nodes
	for _, x := range []*G.Node{in.Query, in.Key, in.Value, in.Bias} {
		if x != nil {
			wrt = append(wrt, x)
		}
	}
	inputs := len(wrt)
	run := func() (out, weights *G.Node, err error) {
		if withWeights {
			return attendObserved(b, l, in)
		}
		out, err = l.Attend(b, in)
		return out, nil, err
	}
	out, weights, err := run()
	require.NoError(t, err)
	require.Len(t, b.Learnables(), p.Len(), "every parameter is used")
	wrt = append(wrt, b.Learnables()...)
	grads := must(G.Backpropagate(G.Nodes{out}, G.Nodes{c.float(t, b, "dout")}, wrt))
	wanted, entries := append(G.Nodes{out}, grads...), []string{"out"}
	for i, n := range wrt {
		if i < inputs {
			entries = append(entries, "d"+n.Name())
		} else {
			entries = append(entries, "grad."+n.Name())
		}
	}
	if withWeights {
		mean := must(graph.AverageHeads(weights))
		wanted, entries = append(wanted, weights, mean), append(entries, "weights", "mean")
	}
	for i, got := range values(t, wanted...) {
		if c.has(entries[i]) || entries[i] != "mean" {
			c.near(t, entries[i], wanted[i], got)
		}
	}
}
