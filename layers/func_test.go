package layers_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/testenv"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// tagger is a small model of ids: embedding, attention that hides padding if it gets lengths, and scores.
type tagger struct {
	params    *layers.Params
	embedding *layers.Embedding
	attention *layers.Attention
	built     []string // the shapes of ids that the formula was called for
}

func newTagger(t testing.TB, dt tensor.Dtype) *tagger {
	t.Helper()
	m := &tagger{params: layers.NewParams(dt, 7)}
	m.embedding = must(layers.NewEmbedding(m.params.Scope("embedding"),
		layers.EmbeddingConfig{NumEmbeddings: 11, EmbeddingDim: 12}))
	m.attention = must(layers.NewAttention(m.params.Scope("attention"), layers.AttentionConfig{EmbedDim: 12, NumHeads: 3}))
	return m
}

// formula returns scores (B, T, E), their sum and the embeddings.
func (m *tagger) formula(b *layers.Build, in layers.Inputs) []*G.Node {
	m.built = append(m.built, fmt.Sprint(in["ids"].Dtype(), in["ids"].Shape()))
	return m.nodes(b, in)
}

func (m *tagger) nodes(b *layers.Build, in layers.Inputs) []*G.Node {
	x := b.Of(m.embedding.Forward(b, in["ids"]))
	call := layers.AttentionInput{Query: x}
	if in["lengths"] != nil {
		call.Mask = mask.KeyLengths{Lengths: in["lengths"]}
	}
	y := b.Of(m.attention.Attend(b, call))
	if in["scale"] != nil {
		y = b.Of(graph.Mul(y, in["scale"]))
	}
	return []*G.Node{y, b.Of(G.Sum(y)), x}
}

// byHand computes the formula in a graph and a machine of its own.
func (m *tagger) byHand(t *testing.T, v layers.Values) (all []*tensor.Dense) {
	t.Helper()
	b := layers.NewBuild(m.params, layers.Eval)
	out := m.nodes(b, b.InputsOf(v))
	require.NoError(t, b.Err())
	vm := must(machine.New(out...))
	for name, d := range v {
		require.NoError(t, G.Let(b.Inputs()[name], d))
	}
	require.NoError(t, vm.RunAll())
	for _, n := range out {
		d, ok := n.Value().(*tensor.Dense)
		if !ok {
			d = tensor.New(tensor.FromScalar(n.Value().Data()))
		}
		all = append(all, d.Clone().(*tensor.Dense))
	}
	return all
}

// someIDs returns ids below 11 that depend on their shape.
func someIDs(dt tensor.Dtype, shape ...int) *tensor.Dense {
	d := tensor.New(tensor.Of(dt), tensor.WithShape(shape...))
	for i := range d.DataSize() {
		n := (i*i + 3*i + d.DataSize()) % 11
		if dt == tensor.Int64 {
			d.Int64s()[i] = int64(n)
		} else {
			d.Ints()[i] = n
		}
	}
	return d
}

func requireEqualTensors(t *testing.T, want, got []*tensor.Dense) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, fmt.Sprint(want[i].Shape()), fmt.Sprint(got[i].Shape()))
		require.Equal(t, want[i].Dtype(), got[i].Dtype())
		require.Equal(t, want[i].Data(), got[i].Data())
	}
}

// For any shape, a Func gives the bits of a graph built by hand, in memory of its own, and calls its formula once for
// each combination of types and shapes.
func TestFuncTakesAnyShape(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		m := newTagger(t, dt)
		f := must(layers.NewFunc(m.params, m.formula, layers.FuncConfig{}))
		values := []layers.Values{
			{"ids": someIDs(tensor.Int, 2, 5)},
			{"ids": someIDs(tensor.Int, 1, 3)},
			{"ids": someIDs(tensor.Int64, 2, 5)},
			{"ids": someIDs(tensor.Int, 4)},
			{"ids": someIDs(tensor.Int, 3, 9)},
			{"ids": someIDs(tensor.Int, 2, 5), "lengths": tensor.New(tensor.WithBacking([]int{5, 2}))},
			{"ids": someIDs(tensor.Int, 3, 9), "scale": scalarOf(dt, 3)},
		}
		var got, want [][]*tensor.Dense
		for range 3 {
			for _, v := range values {
				shapes := must(f.Prepare(v))
				got, want = append(got, must(f.Call(t.Context(), v))), append(want, m.byHand(t, v))
				for i, y := range got[len(got)-1] {
					require.Equal(t, y.Shape(), shapes[i])
				}
			}
		}
		for i := range got { // checked now: no later call has overwritten them
			requireEqualTensors(t, want[i], got[i])
		}
		require.Equal(t, []string{"int (2, 5)", "int (1, 3)", "int64 (2, 5)", "int (4)", "int (3, 9)", "int (2, 5)",
			"int (3, 9)"},
			m.built)
	}
}

// scalarOf returns a tensor without axes.
func scalarOf(dt tensor.Dtype, v float64) *tensor.Dense {
	if dt == tensor.Float32 {
		return tensor.New(tensor.FromScalar(float32(v)))
	}
	return tensor.New(tensor.FromScalar(v))
}

// The most recently used graph is kept longest, and the limit is the config's.
func TestFuncDropsTheLeastRecentlyUsedGraph(t *testing.T) {
	for _, c := range []struct {
		graphs int
		calls  []int
		built  int
	}{
		{graphs: 1, calls: []int{1, 1, 2, 2, 1}, built: 3},
		{graphs: 2, calls: []int{1, 2, 1, 3, 1, 2, 1}, built: 4}, // 3 drops 2, and 2 drops 3
		{graphs: 0, calls: []int{1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}, built: 8},
		{graphs: 0, calls: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 1}, built: 10},
	} {
		m := newTagger(t, tensor.Float32)
		f := must(layers.NewFunc(m.params, m.formula, layers.FuncConfig{Graphs: c.graphs}))
		for _, n := range c.calls {
			must(f.Call(t.Context(), layers.Values{"ids": someIDs(tensor.Int, 1, n)}))
		}
		require.Len(t, m.built, c.built, "%+v", c)
	}
}

// CallInto writes into the tensors that fit and replaces the others.
func TestCallInto(t *testing.T) {
	m := newTagger(t, tensor.Float32)
	f := must(layers.NewFunc(m.params, m.formula, layers.FuncConfig{}))
	v := layers.Values{"ids": someIDs(tensor.Int, 2, 5)}
	want := m.byHand(t, v)
	wrong := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(2, 5, 3))
	first := must(f.CallInto(t.Context(), []*tensor.Dense{wrong, nil, {}}, v))
	requireEqualTensors(t, want, first)
	require.NotSame(t, wrong, first[0])
	kept := []*tensor.Dense{first[0], first[1], first[2]}
	for _, d := range kept {
		require.NoError(t, d.Memset(float32(-1)))
	}
	second := must(f.CallInto(t.Context(), first, v))
	requireEqualTensors(t, want, second)
	for i := range kept {
		require.Same(t, kept[i], second[i])
	}
	short := must(f.CallInto(t.Context(), second[:1], layers.Values{"ids": someIDs(tensor.Int, 2, 5)}))
	requireEqualTensors(t, want, short)
}

// A call with a known shape allocates no more than a machine used by hand.
func TestFuncAllocatesNothingMore(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector makes sync.Pool drop what it is given, at random")
	}
	m := newTagger(t, tensor.Float32)
	f := must(layers.NewFunc(m.params, m.nodes, layers.FuncConfig{}))
	v, ctx := layers.Values{"ids": someIDs(tensor.Int, 2, 5)}, t.Context()
	b := layers.NewBuild(m.params, layers.Eval)
	vm := must(machine.New(m.nodes(b, b.InputsOf(v))...))
	byHand := testing.AllocsPerRun(20, func() {
		require.NoError(t, G.Let(b.Inputs()["ids"], v["ids"]))
		require.NoError(t, vm.Run(ctx))
	})
	var out []*tensor.Dense
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() {
		out = must(f.CallInto(ctx, out, v))
	}), byHand)
}

// A Func uses the present state of the parameters: their values, and also their tensors, adapters and dtypes.
func TestFuncSeesChangedParameters(t *testing.T) {
	m := newTagger(t, tensor.Float32)
	f := must(layers.NewFunc(m.params, m.formula, layers.FuncConfig{}))
	v := layers.Values{"ids": someIDs(tensor.Int, 2, 5)}
	const name = "attention.W_query.weight"
	doubled := func() *tensor.Dense {
		w, ok := m.params.Get(name)
		require.True(t, ok)
		w = w.Clone().(*tensor.Dense)
		for i := range w.Float32s() {
			w.Float32s()[i] *= 2
		}
		return w
	}
	var before any
	for _, c := range []struct {
		reason string
		change func() error
		built  int
	}{
		{"nothing", func() error { return nil }, 1},
		{"a value", func() error { return m.params.Set(name, doubled()) }, 1},
		{"a tensor", func() error { return m.params.Keep(name, doubled()) }, 2},
		{"adapters", func() error {
			if err := m.params.AddLoRA(layers.LoRAConfig{Rank: 2, Targets: []string{"W_query"}}); err != nil {
				return err
			}
			b, _ := m.params.Get(name[:len(name)-7] + ".lora_B.weight")
			return b.Memset(float32(1))
		}, 3},
		{"thawed", func() error { return m.params.Unfreeze(name) }, 4},
		{"a value of an adapter", func() error {
			b, _ := m.params.Get(name[:len(name)-7] + ".lora_B.weight")
			return b.Memset(float32(2))
		}, 4},
	} {
		require.NoError(t, c.change(), c.reason)
		got := must(f.Call(t.Context(), v))
		requireEqualTensors(t, m.byHand(t, v), got)
		require.Equal(t, c.reason == "thawed", fmt.Sprint(before) == fmt.Sprint(got[0].Data()), c.reason)
		require.Len(t, m.built, c.built, c.reason)
		before = got[0].Data()
	}
}

// Errors name the types and shapes of the call. Nothing of a failed formula is kept, and a valid call works afterwards.
func TestErrorsOfAFunc(t *testing.T) {
	m := newTagger(t, tensor.Float32)
	ids := someIDs(tensor.Int, 2, 5)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	fails, calls := errors.New("the formula's own"), 0
	other := must(layers.NewFunc(m.params, m.nodes, layers.FuncConfig{}))
	formula := func(b *layers.Build, in layers.Inputs) []*G.Node {
		calls++
		switch {
		case in["fail"] != nil:
			return b.Nodes(nil, fails)
		case in["call"] != nil:
			_, err := other.Call(t.Context(), layers.Values{"ids": ids})
			return b.Nodes(nil, err)
		case in["none"] != nil:
			return nil
		case in["nil"] != nil:
			return []*G.Node{in["ids"], nil}
		case in["foreign"] != nil:
			return []*G.Node{layers.NewBuild(m.params, layers.Eval).Input("x", 2)}
		case in["more"] != nil:
			return []*G.Node{in["ids"], b.Input("another", 2)}
		}
		return m.nodes(b, in)
	}
	one := scalarOf(tensor.Float32, 1)
	f := must(layers.NewFunc(m.params, formula, layers.FuncConfig{}))
	for _, c := range []struct {
		ctx   context.Context
		v     layers.Values
		want  string
		is    error
		built int // of two equal calls
	}{
		{v: layers.Values{"ids": ids, "fail": one}, want: "ids int (2, 5): the formula's own", is: fails, built: 2},
		{v: layers.Values{"ids": ids, "call": one}, want: "call float32 (), ids int (2, 5): layers: func of ids int (2, 5): " +
			"got a call within a formula, want formulas to build nodes alone: call functions and steps outside", built: 2},
		{v: layers.Values{"ids": ids, "none": one}, want: "machine: wanted: got no node, want at least one", built: 2},
		{v: layers.Values{"ids": ids, "nil": one},
			want: "output 1: got nil or a node of another graph, want one of the build's", built: 2},
		{v: layers.Values{"ids": ids, "foreign": one}, want: "output 0: got nil or a node of another graph", built: 2},
		{v: layers.Values{"ids": ids, "more": one}, want: `machine: input "another" has no value`, built: 1},
		{v: layers.Values{"ids": ids, "x": nil}, want: `x nil: layers: input "x": got no tensor, want one`},
		{v: layers.Values{"ids": ids, "x": {}}, want: `x an empty tensor: layers: input "x": got no tensor, want one`},
		{v: layers.Values{"ids": tensor.New(tensor.Of(tensor.Int), tensor.WithShape(2, 1, 5))},
			want: "layers: func of ids int (2, 1, 5): layers: ", built: 2},
		{v: layers.Values{"attention.W_query.weight": ids}, want: "the name is taken"},
		{v: layers.Values{}, want: "layers: func of no values: layers: ", built: 2},
		{v: layers.Values{"ids": someIDs(tensor.Int, 1, 4)}, ctx: canceled, is: context.Canceled,
			want: "ids int (1, 4): machine: stopped at op 0", built: 1},
	} {
		if c.ctx == nil {
			c.ctx = t.Context()
		}
		calls = 0
		for range 2 {
			out, err := f.Call(c.ctx, c.v)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "layers: func of ")
			require.Nil(t, out)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		}
		require.Equal(t, c.built, calls, c.want)
		good := must(f.Call(t.Context(), layers.Values{"ids": ids}))
		requireEqualTensors(t, m.byHand(t, layers.Values{"ids": ids}), good)
	}

	for _, c := range []struct {
		p       *layers.Params
		formula layers.Formula
		config  layers.FuncConfig
		want    string
	}{
		{formula: formula, want: "got no parameters or no formula, want both"},
		{p: &layers.Params{}, formula: formula, want: "got no parameters or no formula, want both"},
		{p: m.params, want: "got no parameters or no formula, want both"},
		{p: m.params, formula: formula, config: layers.FuncConfig{Graphs: -1}, want: "Graphs: got -1, want at least 0"},
	} {
		_, err := layers.NewFunc(c.p, c.formula, c.config)
		require.EqualError(t, err, "layers: func: "+c.want)
	}
}

// Four goroutines evaluate over one set of parameters at once, each with a clone, and agree with a graph by hand.
func TestClonesRunAtOnce(t *testing.T) {
	m := newTagger(t, tensor.Float32)
	f, err := layers.NewFunc(m.params, m.formula, layers.FuncConfig{Graphs: 2}) // so that graphs are dropped, too
	require.NoError(t, err)
	var want [][]*tensor.Dense
	for n := range 4 {
		want = append(want, m.byHand(t, layers.Values{"ids": someIDs(tensor.Int, 2, n+1)}))
	}
	var running sync.WaitGroup
	for worker := range 4 {
		own := f.Clone()
		running.Go(func() {
			for i := range 24 {
				n := (i*i + worker) % 4
				got, err := own.Call(t.Context(), layers.Values{"ids": someIDs(tensor.Int, 2, n+1)})
				if err != nil || fmt.Sprint(got) != fmt.Sprint(want[n]) {
					t.Errorf("worker %d, call %d: got %v, %v, want %v", worker, i, got, err, want[n])
					return
				}
			}
		})
	}
	running.Wait()
}

// A call while another one runs is an error.
func TestCallsAtOnceAreRefused(t *testing.T) {
	m := newTagger(t, tensor.Float32)
	var f *layers.Func
	var inner error
	f = must(layers.NewFunc(m.params, func(b *layers.Build, in layers.Inputs) []*G.Node {
		_, inner = f.Call(t.Context(), layers.Values{"ids": someIDs(tensor.Int, 2)})
		return m.nodes(b, in)
	}, layers.FuncConfig{}))
	must(f.Call(t.Context(), layers.Values{"ids": someIDs(tensor.Int, 2, 3)}))
	require.EqualError(t, inner, "layers: func: got a call while another one runs, want one at a time, or a Clone")
}

// All shapes together take at most 1.1 times the memory of the largest alone, in whatever order they come: neither
// smaller memory nor values of earlier calls are kept.
func TestMemoryOfAFunc(t *testing.T) {
	m := newTagger(t, tensor.Float32)
	heap := func() float64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&s)
		return float64(s.HeapAlloc)
	}
	const longest, calls = 120, 24
	for _, c := range []struct {
		name    string
		formula layers.Formula
		values  func(n int) layers.Values
	}{
		{"ids", m.nodes, func(n int) layers.Values { return layers.Values{"ids": someIDs(tensor.Int, 100, n)} }},
		{"floats", func(b *layers.Build, in layers.Inputs) []*G.Node { // loops and products of Gorgonia's ops read x
			x := b.Of(G.Add(in["x"], b.Of(G.Tanh(b.Of(G.Sin(in["x"]))))))
			return b.Nodes(m.attention.Forward(b, b.Of(G.BatchedMatMul(b.Of(G.BatchedMatMul(in["x"], x, false, true)), in["x"]))))
		}, func(n int) layers.Values {
			return layers.Values{"x": tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(100, n, 12))}
		}},
	} {
		newFunc := func() *layers.Func {
			return must(layers.NewFunc(m.params, c.formula, layers.FuncConfig{}))
		}
		call := func(f *layers.Func, n int) float64 {
			before := heap()
			must(f.Call(t.Context(), c.values(n)))
			return heap() - before
		}
		alone := newFunc()
		most, bytes := call(alone, longest), alone.Bytes()
		runtime.KeepAlive(alone)
		for name, n := range map[string]func(i int) int{
			"rising":  func(i int) int { return longest * (i + 1) / calls },
			"falling": func(i int) int { return longest * (calls - i) / calls },
			"mixed":   func(i int) int { return longest * (i*i*7%calls + 1) / calls },
		} {
			f, held := newFunc(), 0.0
			for i := range calls {
				held += call(f, n(i))
				require.LessOrEqual(t, held, 1.1*most, "%s, %s: call %d", c.name, name, i)
			}
			require.LessOrEqual(t, float64(f.Bytes()), 1.1*float64(bytes), name)
			runtime.KeepAlive(f)
		}
	}
}
