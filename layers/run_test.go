package layers_test

import (
	"strings"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/refusal"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// forward is what every layer here does. Without weights it takes the layer's
// Forward, which need not hold them.
type forward func(b *layers.Build, withWeights bool, in ...*G.Node) (out, weights *G.Node, err error)

// selfLayer is an Attention of a sequence to itself.
type selfLayer struct{ *layers.Attention }

func (l selfLayer) Weights(b *layers.Build, x *G.Node) (*G.Node, error) {
	return l.Attention.Weights(b, layers.AttentionInput{Query: x})
}

// newSelf makes an Attention as a layer of the chapter's kind.
func newSelf(s layers.Scope, c layers.AttentionConfig) (chapter.Layer, error) {
	l, err := layers.NewAttention(s, c)
	return selfLayer{l}, err
}

// self is the forward of a self-attention layer.
func self(l chapter.Layer, err error) (forward, error) {
	return func(b *layers.Build, withWeights bool, in ...*G.Node) (out, weights *G.Node, err error) {
		if withWeights {
			return observed(b, l, in[0])
		}
		out, err = l.Forward(b, in[0])
		return out, nil, err
	}, err
}

// observed returns the output and the weights of one computation.
func observed(b *layers.Build, l chapter.Layer, x *G.Node) (out, weights *G.Node, err error) {
	b.Observe("*")
	if out, err = l.Forward(b, x); err != nil {
		return nil, nil, err
	}
	weights, err = l.Weights(b, x)
	return out, weights, err
}

// attendObserved is observed of any input of an Attention.
func attendObserved(b *layers.Build, l *layers.Attention, in layers.AttentionInput) (out, weights *G.Node, err error) {
	b.Observe("*")
	if out, err = l.Attend(b, in); err != nil {
		return nil, nil, err
	}
	weights, err = l.Weights(b, in)
	return out, weights, err
}

// cross is the forward of additive attention.
func cross(l *layers.AdditiveAttention, err error) (forward, error) {
	return func(b *layers.Build, withWeights bool, in ...*G.Node) (out, weights *G.Node, err error) {
		out, err = l.Forward(b, in[0], in[1])
		if err == nil && withWeights {
			weights, err = l.Weights(b, in[0], in[1])
		}
		return out, weights, err
	}, err
}

// input makes an input of the build that holds v.
func input(t testing.TB, b *layers.Build, name string, v *tensor.Dense) *G.Node {
	t.Helper()
	n := b.InputOf(v.Dtype(), name, v.Shape()...)
	require.NoError(t, b.Err())
	require.NoError(t, G.Let(n, v))
	return n
}

// must is for what a test needs and is not about.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// failed returns the error of a call.
func failed[V any](_ V, err error) error { return err }

// refuses checks that the constructor refuses each row's change of a config, Validate too if it is exported, and that
// nothing is made. The errors begin with the layer's name.
func refuses[C, L any](
	t *testing.T, layer string, create func(layers.Scope, C) (L, error), base C, rows refusal.Rows,
) {
	t.Helper()
	type validator interface{ Validate() error }
	refusal.Check(t, base, "layers: "+layer+": ", rows, func(c C) error {
		p := layers.NewParams(tensor.Float32, 1)
		_, err := create(p.Scope(""), c)
		require.Equal(t, err != nil, p.Len() == 0, "nothing is made")
		return err
	}, func(c C) error {
		if v, ok := any(c).(validator); ok {
			return v.Validate()
		}
		_, err := layers.Declare(create, c)
		return err
	})
}

// values runs nodes of one graph.
func values(t testing.TB, nodes ...*G.Node) [][]float64 {
	t.Helper()
	m := must(machine.New(nodes...))
	defer m.Close()
	require.NoError(t, m.RunAll())
	var got [][]float64
	for _, n := range nodes {
		got = append(got, golden.Floats(t, n.Value()))
	}
	return got
}

func names(p *layers.Params) []string {
	var list []string
	for name := range p.All() {
		list = append(list, name)
	}
	return list
}

// torchTypes are the types with their tolerances. The compared numbers are 1 to 100 in size, and sums of at most some
// hundred products. With the same formula they differ by 1e-13 in float64 and by 1e-6 in float32; with another formula
// they differ by much more than the tolerances.
var torchTypes = []struct {
	label string
	dt    tensor.Dtype
	tol   float64
}{{label: "f64", dt: tensor.Float64, tol: 1e-10}, {label: "f32", dt: tensor.Float32, tol: 1e-5}}

// Context vectors, attention weights, and the gradients of the input and of every
// parameter, as PyTorch has them.
func TestLayersEqualPyTorch(t *testing.T) {
	seen, file := map[string]bool{}, golden.Load(t, "torch/layers.safetensors")
	for _, entry := range file.Names() {
		if name, isCase := strings.CutSuffix(entry, ".f64.out"); isCase {
			seen[name] = true
		}
	}
	require.Len(t, seen, len(torchCases))
	for name, make := range torchCases {
		require.True(t, seen[name], name)
		for _, p := range torchTypes {
			t.Run(name+"/"+p.label, func(t *testing.T) {
				c := torchCase{file, name + "." + p.label + ".", p.dt, p.tol}
				for _, withWeights := range []bool{true, false} {
					c.test(t, make, withWeights)
				}
			})
		}
	}
}

// torchCase is one case in one type.
type torchCase struct {
	file   *golden.File
	prefix string
	dt     tensor.Dtype
	tol    float64
}

// entries are the names after prefix and what, in order.
func (c torchCase) entries(what string) []string {
	var list []string
	for _, name := range c.file.Names() {
		if rest, ok := strings.CutPrefix(name, c.prefix+what); ok {
			list = append(list, rest)
		}
	}
	return list
}

func (c torchCase) load(entry string) *tensor.Dense {
	return golden.Dense(c.dt, c.file.Float64(c.prefix+entry), c.file.Shape(c.prefix+entry)...)
}

// near compares values of node n with an entry.
func (c torchCase) near(t *testing.T, entry string, n *G.Node, got []float64) {
	require.Equal(t, c.file.Shape(c.prefix+entry), []int(n.Shape()), entry)
	golden.Close(t, entry, c.file.Float64(c.prefix+entry), got, c.tol, c.tol)
}

// of returns a tensor of any type.
func of(data any, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
}
