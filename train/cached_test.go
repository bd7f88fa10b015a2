package train_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"
	"attention/train"
	"attention/train/parallel"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// towers is an encoder and formulas of losses of its texts, which are triplets, by the names of a batch's values.
type towers struct {
	params  *layers.Params
	encoder *layers.Encoder
	marked  int // the embeddings that the last formula has marked
}

func newTowers(dt tensor.Dtype, dropout float64) *towers {
	p := layers.NewParams(dt, 1)
	return &towers{params: p, encoder: must(layers.NewEncoder(p.Scope(""), layers.EncoderConfig{
		VocabSize: 29, ContextLength: 7, NumLayers: 2, EmbeddingDropout: dropout, Block: layers.BlockConfig{
			Attention: layers.AttentionConfig{EmbedDim: 8, NumHeads: 2, QKVBias: true, OutBias: true,
				Dropout: dropout, OutDropout: dropout},
			MLP:  layers.MLPConfig{DimFeedforward: 12, Activation: "gelu", Bias: true, Dropout: dropout},
			Norm: layers.NormConfig{Bias: true}}}))}
}

// texts returns marked embeddings of texts, (B, 8).
func (m *towers) texts(b *layers.Build, in layers.Inputs, name string) *G.Node {
	m.marked++
	return b.Cached(m.encoder.Embedding(b, layers.EncoderInput{IDs: in[name], Lengths: in[name+".lengths"]},
		layers.MeanPooling, true))
}

// losses are the formulas by name.
func (m *towers) losses() map[string]layers.Formula {
	triplet := func(c layers.TripletLoss) layers.Formula {
		return func(b *layers.Build, in layers.Inputs) []*G.Node {
			return b.Nodes(c.Forward(b, m.texts(b, in, "anchor"), m.texts(b, in, "positive"), m.texts(b, in, "negative")))
		}
	}
	return map[string]layers.Formula{
		"pairs": func(b *layers.Build, in layers.Inputs) []*G.Node {
			return b.Nodes(layers.MultipleNegativesRankingLoss{}.Forward(b, m.texts(b, in, "anchor"),
				m.texts(b, in, "positive"), nil))
		},
		"hard negatives and equal texts": func(b *layers.Build, in layers.Inputs) []*G.Node {
			candidates := b.Of(G.Concat(0, m.texts(b, in, "positive"), m.texts(b, in, "negative")))
			text := in["text"]
			return b.Nodes(layers.MultipleNegativesRankingLoss{Scale: 5}.Forward(b, m.texts(b, in, "anchor"), candidates,
				mask.Segments{Query: text, Key: b.Of(G.Concat(0, text, text))}))
		},
		"scores": func(b *layers.Build, in layers.Inputs) []*G.Node {
			return b.Nodes(layers.CoSENTLoss{}.Forward(b, m.texts(b, in, "anchor"), m.texts(b, in, "positive"), in["score"]))
		},
		"triplets":          triplet(layers.TripletLoss{}),
		"triplets, cosine":  triplet(layers.TripletLoss{DistanceMetric: layers.Cosine, TripletMargin: 0.1}),
		"triplets, squares": triplet(layers.TripletLoss{DistanceMetric: layers.Manhattan}),
	}
}

// triplets returns a batch of random texts of different lengths.
func (m *towers) triplets(rows int) train.Batch {
	r := rand.New(rand.NewPCG(uint64(rows), 3))
	ints := func(n, least, most int) []int {
		all := make([]int, n)
		for i := range all {
			all[i] = least + r.IntN(most-least+1)
		}
		return all
	}
	v := train.Values{"text": tensor.New(tensor.WithShape(rows), tensor.WithBacking(ints(rows, 0, rows/2))),
		"score": golden.Dense(m.params.Dtype(), make([]float64, rows), rows)}
	for i := range rows {
		v["score"].SetAt(m.value(float64(r.IntN(4))), i)
	}
	for i, name := range []string{"anchor", "positive", "negative"} {
		v[name] = tensor.New(tensor.WithShape(rows, 5+i), tensor.WithBacking(ints(rows*(5+i), 0, 28)))
		v[name+".lengths"] = tensor.New(tensor.WithShape(rows), tensor.WithBacking(ints(rows, 1, 5+i)))
	}
	return train.Batch{Inputs: v, Tokens: rows}
}

func (m *towers) value(x float64) any {
	if m.params.Dtype() == tensor.Float32 {
		return float32(x)
	}
	return x
}

func cachedConfig(miniBatch int) train.StepConfig {
	return train.StepConfig{Schedule: train.ConstantRate(1e-3), MiniBatchSize: miniBatch}
}

// A batch in mini-batches has the loss and the gradients of the whole batch, by every loss, with an uneven last
// mini-batch, with one row in each, and with a batch that fits into one.
func TestCachedGradients(t *testing.T) {
	for name := range newTowers(tensor.Float64, 0).losses() {
		t.Run(name, func(t *testing.T) {
			whole := newTowers(tensor.Float64, 0)
			want := must(train.NewStepFunc(whole.params, whole.losses()[name], cachedConfig(0)))
			for _, size := range []int{1, 3, 4, 7, 8, 9} {
				parts := newTowers(tensor.Float64, 0)
				for name, v := range whole.params.All() {
					require.NoError(t, parts.params.Set(name, v))
				}
				got := must(train.NewStepFunc(parts.params, parts.losses()[name], cachedConfig(size)))
				batch := whole.triplets(8)
				require.InDelta(t, must(want.Run(batch.Inputs)), must(got.Run(batch.Inputs)), 1e-12)
				for i, p := range want.Params() {
					require.Equal(t, p.Name, got.Params()[i].Name)
					golden.Close(t, fmt.Sprint(size, " ", p.Name), p.Grad.Float64s(), got.Params()[i].Grad.Float64s(), 1e-12, 0)
				}
			}
		})
	}
}

// The second pass of a mini-batch draws the dropout of the first, and another one than the other mini-batches: the
// gradients equal those of one graph in which each mini-batch has its key.
func TestCachedGradientsWithDropout(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	first := must(layers.NewLinear(p.Scope("first"), layers.LinearConfig{InFeatures: 5, OutFeatures: 7, Bias: true}))
	second := must(layers.NewLinear(p.Scope("second"), layers.LinearConfig{InFeatures: 7, OutFeatures: 3, Bias: true}))
	embed := func(b *layers.Build, x, key *G.Node, site int) *G.Node {
		drop := func(x *G.Node, site int) *G.Node {
			return b.Of(graph.Dropout(x, graph.DropoutConfig{P: 0.4, Key: key, Site: site}))
		}
		x = b.Of(graph.Tanh(b.Of(first.Forward(b, drop(x, site)))))
		return b.Of(second.Forward(b, drop(x, site+1)))
	}
	loss := func(b *layers.Build, x, y *G.Node) []*G.Node {
		return b.Nodes(layers.MultipleNegativesRankingLoss{}.Forward(b, x, y, nil))
	}
	const rows, size = 8, 3
	whole := func(b *layers.Build, in layers.Inputs) []*G.Node {
		var all [2][]*G.Node
		for lo := 0; lo < rows; lo += size {
			key := in[fmt.Sprint("key", lo/size)]
			for i, name := range []string{"x", "y"} {
				some := b.Of(graph.Rows(in[name], lo, min(size, rows-lo)))
				all[i] = append(all[i], embed(b, some, key, 1+2*i))
			}
		}
		return loss(b, b.Of(G.Concat(0, all[0]...)), b.Of(G.Concat(0, all[1]...)))
	}
	parts := func(b *layers.Build, in layers.Inputs) []*G.Node {
		key := b.Drop(0.4).Key
		x := b.Cached(embed(b, in["x"], key, 1), nil)
		return loss(b, x, b.Cached(embed(b, in["y"], key, 3), nil))
	}
	v := train.Values{"x": p.Draw(layers.Normal(0, 1), rows, 5), "y": p.Draw(layers.Normal(0, 1), rows, 5)}
	got := must(train.NewStepFunc(p, parts, cachedConfig(size)))
	before := map[string]*tensor.Dense{}
	for name, v := range p.All() {
		before[name] = v.Clone().(*tensor.Dense)
	}
	is := must(got.Run(v))
	for name, v := range before {
		require.NoError(t, p.Set(name, v))
	}
	for i := range int64(3) { // seed 0, step 0
		v[fmt.Sprint("key", i)] = tensor.New(tensor.FromScalar(i << 32))
	}
	want := must(train.NewStepFunc(p, whole, cachedConfig(0)))
	require.InDelta(t, must(want.Run(v)), is, 1e-12)
	for i, p := range want.Params() {
		golden.Close(t, p.Name, p.Grad.Float64s(), got.Params()[i].Grad.Float64s(), 1e-12, 0)
	}
}

// With dropout everywhere in an encoder, the gradient is the slope of the loss with the same masks.
func TestCachedGradientIsTheSlope(t *testing.T) {
	m := newTowers(tensor.Float64, 0.2)
	c := cachedConfig(3)
	c.Schedule = train.ConstantRate(0)
	c.Solver = train.SolverConfig{Name: train.SGD}
	step := must(train.NewStepFunc(m.params, m.losses()["triplets"], c))
	batch, r := m.triplets(8), rand.New(rand.NewPCG(1, 2))
	direction, slope := map[string][]float64{}, 0.0
	must(step.Run(batch.Inputs))
	for _, p := range step.Params() {
		for _, g := range p.Grad.Float64s() {
			direction[p.Name] = append(direction[p.Name], r.NormFloat64())
			slope += g * direction[p.Name][len(direction[p.Name])-1]
		}
	}
	at := func(h float64) float64 {
		for name, v := range m.params.All() {
			for i, d := range direction[name] {
				v.Float64s()[i] += h * d
			}
		}
		step.SetSteps(0)
		return must(step.Run(batch.Inputs))
	}
	const h = 1e-6
	high, low := at(h), at(-2*h)
	require.InEpsilon(t, (high-low)/(2*h), slope, 1e-6)
	step.SetSteps(1) // other masks
	require.Greater(t, math.Abs(must(step.Run(batch.Inputs))-low), 1e-3)
}

// Accumulating the gradients of small batches adds no negatives, and caching does: with similarities that hardly count,
// a loss is the logarithm of the candidates that each anchor is compared with (sentence-transformers#2916).
func TestNegativesOfAccumulatedAndCachedSteps(t *testing.T) {
	m := newTowers(tensor.Float64, 0)
	formula := func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(layers.MultipleNegativesRankingLoss{Scale: 1e-9}.Forward(b, m.texts(b, in, "anchor"),
			m.texts(b, in, "positive"), nil))
	}
	whole := m.triplets(8)
	half := func(lo int) train.Batch {
		b := train.Batch{Inputs: train.Values{}, Tokens: 4}
		for name, v := range whole.Inputs {
			part := must(v.Slice(tensor.S(lo, lo+4)))
			b.Inputs[name] = part.Materialize().(*tensor.Dense)
		}
		return b
	}
	for _, c := range []struct {
		candidates       float64
		accumulate, mini int
		source           batches
	}{
		{8, 1, 0, batches{whole}}, {8, 1, 4, batches{whole}}, {4, 2, 0, batches{half(0), half(4)}},
	} {
		config := cachedConfig(c.mini)
		config.Accumulate = c.accumulate
		r := must(must(train.NewStepFunc(m.params, formula, config)).Take(&c.source))
		require.InDelta(t, math.Log(c.candidates), r.Loss, 1e-8)
	}
}

// A batch of 256 pairs in mini-batches of 32 takes the memory of a batch of 32, and the sums of the gradients.
func TestMemoryOfCachedGradients(t *testing.T) {
	memory := func(rows, mini int) train.Memory {
		m := newTowers(tensor.Float32, 0.1)
		step := must(train.NewStepFunc(m.params, m.losses()["pairs"], cachedConfig(mini)))
		v := m.triplets(rows).Inputs
		require.NoError(t, step.Prepare(v))
		prepared := step.Memory()
		must(step.Run(v))
		require.Equal(t, prepared.Graphs, step.Memory().Graphs)
		return step.Memory()
	}
	small, large, cached := memory(32, 0), memory(256, 0), memory(256, 32)
	require.Greater(t, large.Graphs, 5*small.Graphs)
	require.LessOrEqual(t, cached.Graphs, small.Graphs+small.Graphs/16+2*256*256*4) // the similarities of all pairs
	require.Equal(t, 2*small.Gradients, cached.Gradients)
	small.Graphs, small.Gradients = cached.Graphs, cached.Gradients
	require.Equal(t, small, cached)
}

// Steps of several batches in mini-batches have the same bits in one process and in two, and after a new start.
func TestCachedGradientsOfAGroup(t *testing.T) {
	train3 := func(g train.Group) *layers.Params {
		m := newTowers(tensor.Float32, 0.1)
		c := cachedConfig(3)
		c.Accumulate, c.Group = 3, g
		step := must(train.NewStepFunc(m.params, m.losses()["pairs"], c))
		source := batches{m.triplets(8), m.triplets(3), m.triplets(7), m.triplets(6), m.triplets(4), m.triplets(8)}
		for range 2 {
			must(step.Take(&source))
		}
		return m.params
	}
	want := train3(nil)
	group := must(parallel.NewLocal(2))
	var both sync.WaitGroup
	got := make([]*layers.Params, 2)
	for rank := range got {
		both.Go(func() { got[rank] = train3(group[rank]) })
	}
	both.Wait()
	for _, p := range got {
		requireSameValues(t, want, p)
	}
}
