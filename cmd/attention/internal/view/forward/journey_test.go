package forward

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// libraryStages are the values of a model's stages, by their paths and names, and the weights of its attentions by
// their paths; of one that is none of layers.Attention by "attention".
func libraryStages(t *testing.T, m *Model, ids []int) (stages, weights map[string][]float64) {
	t.Helper()
	n, err := m.open()
	require.NoError(t, err)
	network := n.(language).Model.Network
	b := layers.NewBuild(n.params(), layers.Eval)
	in := b.InputOf(tensor.Int, "ids", len(ids))
	b.Of(network.Forward(b, in))
	var nodes gorgonia.Nodes
	var names []string
	for _, s := range b.Stages() {
		nodes, names = append(nodes, s.Value), append(names, s.Path+" "+s.Name)
	}
	for _, call := range b.Calls("*") {
		nodes, names = append(nodes, b.Of(call.Weights())), append(names, "weights "+call.Path)
	}
	if of, ok := network.(*chapter.LanguageModel); ok && len(b.Calls("*")) == 0 {
		nodes, names = append(nodes, b.Of(of.Weights(b, in))), append(names, "weights attention")
	}
	require.NoError(t, b.Err())
	vm, err := machine.New(nodes...)
	require.NoError(t, err)
	require.NoError(t, let(in, ids))
	require.NoError(t, vm.RunAll())
	stages, weights = map[string][]float64{}, map[string][]float64{}
	for i, name := range names {
		if path, ok := strings.CutPrefix(name, "weights "); ok {
			weights[path] = golden.Floats(t, nodes[i].Value())
		} else {
			stages[name] = golden.Floats(t, nodes[i].Value())
		}
	}
	return stages, weights
}

// The steps of each token through each layer are rows of the library's tensors; weights times values are a head's
// output, and what is added is a sum.
func TestJourneysAreTheLibrarys(t *testing.T) {
	dirs := map[string]string{"gpt": commandtest.WriteGPT(t, commandtest.SmallGPT(t)), "llama": commandtest.SmallLlama(t)}
	texts := map[string]string{"gpt": "abc défg\nab", "llama": "the cat sat"}
	dirs["decoder"], _, _ = commandtest.DecoderRun(t)
	dirs["linear"], _, _ = commandtest.DecoderRunOf(t, `{"vocab_size": 5, "context_length": 6, "num_layers": 3,
		"pattern": [0, 1, 2], "blocks": [
		{"attention": {"embed_dim": 8, "num_heads": 2}, "linear": {"delta": true, "gate": true}},
		{"attention": {"embed_dim": 8, "num_heads": 2}}, {"attention": {"embed_dim": 8, "num_heads": 2}, "linear": {}}]}`)
	for _, name := range chapter.Names() {
		dirs[name], _, _ = commandtest.LayerRun(t, name)
	}
	for name, dir := range dirs {
		model, err := Open(dir)
		require.NoError(t, err)
		text, ok := texts[name]
		if !ok {
			text = "badcab"
		}
		l, err := model.Forward(t.Context(), Request{Text: text})
		require.NoError(t, err)
		var ids []int
		for _, token := range l.Sequences[0].Tokens {
			ids = append(ids, token.ID)
		}
		stages, weights := libraryStages(t, model, ids)
		for i, layer := range l.Layers {
			for token := range ids {
				j, err := l.Journey(t.Context(), i, token)
				require.NoError(t, err, name)
				requireJourney(t, fmt.Sprintf("%s, layer %d, token %d", name, i, token), layer, token, j, stages,
					weights[layer.Path])
			}
		}
		last, err := l.Journey(t.Context(), 0, len(ids)-1)
		require.NoError(t, err)
		for i, c := range l.Next[0] {
			require.Equal(t, c.Token, last.Next[i].Token)
			require.InDelta(t, c.Probability, last.Next[i].Probability, 1e-6)
		}
	}
}

func requireJourney(t *testing.T, what string, l *Layer, token int, j *Journey, stages map[string][]float64,
	weights []float64) {
	t.Helper()
	near := func(want []float64, got []float32, name string) {
		t.Helper()
		requireNear(t, want, got, what+": "+name)
	}
	block := strings.TrimSuffix(strings.TrimSuffix(l.Path, ".attn"), ".self_attn")
	row := func(of []float64) []float64 { return of[len(of)/l.T*token:][:len(of)/l.T] }
	found, known := map[string][]float32{}, 0
	for _, s := range j.Steps {
		require.NotContains(t, found, s.Name, what)
		found[s.Name] = s.Values
		size := 1
		for _, n := range s.Shape {
			size *= n
		}
		require.Len(t, s.Values, size)
		for _, path := range []string{"", block, l.Path, block + ".mlp"} {
			if want, ok := stages[path+" "+s.Name]; ok {
				near(row(want), s.Values, s.Name)
				known++
				break
			}
		}
		if s.Exact != nil && s.Exact.Op == "plus" {
			sum := make([]float64, len(s.Values))
			for term := range strings.SplitSeq(s.Formula, " + ") {
				require.Contains(t, found, term, what)
				for i, v := range found[term] {
					sum[i] += float64(v)
				}
			}
			near(sum, s.Values, s.Formula)
		}
	}
	require.Equal(t, "logits", j.Steps[len(j.Steps)-1].Name)
	require.GreaterOrEqual(t, known, 4, what)
	for head := range l.Heads {
		if l.Linear { // it has no scores
			require.Contains(t, found, "attended")
			require.NotContains(t, found, "weights")
			break
		}
		requireHead(t, what, l, token, head, found, weights)
	}
}

// requireNear requires numbers up to rounding.
func requireNear(t *testing.T, want []float64, got []float32, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for i, w := range want {
		require.InDelta(t, w, float64(got[i]), 2e-5*max(1, math.Abs(w)), "%s, number %d", what, i)
	}
}

// requireHead requires the steps of a head: the operands and the weights are the library's, and the rest follows.
func requireHead(t *testing.T, what string, l *Layer, token, head int, found map[string][]float32, weights []float64) {
	t.Helper()
	of, _, err := l.Head(head)
	require.NoError(t, err)
	line := func(name string, heads int) []float32 {
		width := len(found[name]) / heads
		return found[name][head*heads/l.Heads*width:][:width]
	}
	own := func(of []float32) []float32 { return of[len(of)/l.T*token:][:len(of)/l.T] }
	q, k := "q", "k"
	if l.Turned {
		require.Equal(t, own(of.ProjectedQuery), line(q, l.Heads), what)
		require.Equal(t, own(of.ProjectedKey), line(k, l.KeyHeads), what)
		q, k = "turned q", "turned k"
	}
	require.Equal(t, own(of.Query), line(q, l.Heads), what)
	require.Equal(t, own(of.Key), line(k, l.KeyHeads), what)
	require.Equal(t, own(of.Value), line("v", l.KeyHeads), what)
	scores, w := line("scores", l.Heads), line("weights", l.Heads)
	sum := make([]float64, len(of.Value)/l.S)
	for k := range l.S {
		want := score(l, of, token, k)
		for i := token + 1; i <= k && of.LogGates != nil; i++ { // a key after the query has less
			want -= float64(of.LogGates[i])
		}
		require.InDelta(t, want, float64(scores[k]), 1e-4*max(1, math.Abs(want)), "%s: the score of %d", what, k)
		want = weights[(head*l.T+token)*l.S+k]
		if math.IsNaN(float64(w[k])) {
			require.Zero(t, want, what)
			continue
		}
		require.InDelta(t, want, float64(w[k]), 1e-5, "%s: the weight of %d", what, k)
		for d := range sum {
			sum[d] += float64(w[k]) * float64(of.Value[k*len(sum)+d])
		}
	}
	requireNear(t, sum, line("heads", l.Heads), what+": weights·v")
}

// Changes of the model are on the way, and a pass that has forgotten its weights has the journeys that it knows.
func TestJourneysFollowChanges(t *testing.T) {
	dir, _, _ := commandtest.DecoderRun(t)
	model, err := Open(dir)
	require.NoError(t, err)
	all := func() (journeys []*Journey) {
		l, err := model.Forward(t.Context(), Request{Text: "badcab"})
		require.NoError(t, err)
		for token := range 6 {
			j, err := l.Journey(t.Context(), 1, token)
			require.NoError(t, err)
			for i := range j.Steps { // hidden keys are NaN, which equals nothing
				for k, v := range j.Steps[i].Values {
					if v != v {
						j.Steps[i].Values[k] = -9
					}
				}
			}
			journeys = append(journeys, j)
		}
		return journeys
	}
	together := all()
	defer func(most int) { mostWay = most }(mostWay)
	mostWay = 1 // each token is computed by itself
	require.Equal(t, together, all())
	step := func(r Request, layer int, name string) []float32 {
		l, err := model.Forward(t.Context(), r)
		require.NoError(t, err)
		j, err := l.Journey(t.Context(), layer, 5)
		require.NoError(t, err)
		for _, s := range j.Steps {
			if s.Name == name {
				return s.Values
			}
		}
		return nil
	}
	plain := step(Request{Text: "badcab"}, 2, "heads")
	off := step(Request{Text: "badcab", Heads: []Head{{Layer: 2, Head: 1}}}, 2, "heads")
	require.Equal(t, plain[:2], off[:2])
	require.Equal(t, []float32{0, 0}, off[2:4], "the second head")
	hidden := step(Request{Text: "badcab", Hide: []int{2}}, 2, "weights")
	require.True(t, math.IsNaN(float64(hidden[2])))
	then := step(Request{Text: "bad", Then: []int{2, 0, 1}}, 0, "tokens")
	require.Equal(t, step(Request{Text: "badcab"}, 0, "tokens"), then)

	l, err := model.Forward(t.Context(), Request{Text: "badcab"})
	require.NoError(t, err)
	_, err = l.Journey(t.Context(), 0, 5)
	require.NoError(t, err)
	l.Forget()
	_, err = l.Journey(t.Context(), 1, 5)
	require.NoError(t, err, "which is kept")
	_, err = l.Journey(t.Context(), 1, 4)
	require.ErrorIs(t, err, ErrForgotten)
}

func TestJourneyRefuses(t *testing.T) {
	model, err := Open(commandtest.WriteGPT(t, commandtest.SmallGPT(t)))
	require.NoError(t, err)
	l, err := model.Forward(t.Context(), Request{Text: "abc"})
	require.NoError(t, err)
	for _, at := range [][2]int{{2, 0}, {-1, 0}, {0, 3}, {0, -1}} {
		_, err := l.Journey(t.Context(), at[0], at[1])
		require.EqualError(t, err, fmt.Sprintf("journey: got token %d of layer %d, want one of 3 and of 2", at[1], at[0]))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.Journey(ctx, 0, 0)
	require.ErrorIs(t, err, context.Canceled)
}
