package layers_test

import (
	"math"
	"strings"
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// stagesOf returns the values of a decoder's stages for five tokens, and the formulas of one block's in their order.
// The parameters are made larger, so that no stage is near its neighbour.
func stagesOf(t *testing.T, c layers.DecoderConfig) (all map[string][]float64, formulas []string, p *layers.Params) {
	t.Helper()
	m, p := newDecoder(t, tensor.Float64, c)
	for _, v := range p.All() {
		for i := range v.Float64s() {
			v.Float64s()[i] *= 9
		}
	}
	b := layers.NewBuild(p, layers.Eval)
	ids, rows := input(t, b, "ids", intVector(3, 1, 4, 1, 5)), input(t, b, "rows", intVector(4, 1))
	logits := b.Of(m.Forward(b, ids))
	stages := b.Stages()
	some := b.Of(m.NextAt(b, ids, rows))
	weights := b.Of(b.Calls("*")[0].Weights())
	require.NoError(t, b.Err())
	nodes := G.Nodes{logits, some, weights}
	for _, s := range stages {
		nodes = append(nodes, s.Value)
		if strings.HasPrefix(s.Path, "model.layers.0") {
			formulas = append(formulas, s.Name+" = "+s.Formula)
		}
	}
	got := values(t, nodes...)
	all = map[string][]float64{"weights": got[2]}
	for i, s := range stages {
		if s.Path == "" || strings.HasPrefix(s.Path, "model.layers.0") {
			require.NotContains(t, all, s.Name)
			all[s.Name] = got[3+i]
		}
	}
	require.Equal(t, got[0], all["logits"])
	require.InDeltaSlice(t, append(got[0][4*13:5*13:5*13], got[0][13:2*13]...), got[1], 1e-12, "the rows of NextAt")
	return all, formulas, p
}

// naiveLinear returns x·wᵀ for x (T, in) and w (out, in).
func naiveLinear(x, w []float64, in int) (y []float64) {
	for t := 0; t < len(x); t += in {
		for o := 0; o < len(w); o += in {
			sum := 0.0
			for i := range in {
				sum += x[t+i] * w[o+i]
			}
			y = append(y, sum)
		}
	}
	return y
}

// The stages of a Llama are computed from each other as their formulas say, by loops.
func TestStagesOfADecoder(t *testing.T) {
	c := tinyDecoder()
	all, formulas, p := stagesOf(t, c)
	require.Equal(t, []string{
		"x = ", "attention norm = x / √(mean of squares + ε)⊙weight", "heads = weights·v of each head, side by side",
		"attended = heads·o_proj.weightᵀ", "after attention = x + attended",
		"mlp norm = after attention / √(mean of squares + ε)⊙weight", "up = input·up_proj.weightᵀ",
		"gate = input·gate_proj.weightᵀ", "activated = silu(gate)⊙up", "fed = activated·down_proj.weightᵀ",
		"after mlp = after attention + fed",
	}, formulas)
	weight := func(name string) []float64 {
		v, ok := p.Get("model.layers.0." + name + ".weight")
		require.True(t, ok, name)
		return v.Float64s()
	}
	near := func(name string, want []float64) {
		t.Helper()
		require.InDeltaSlice(t, want, all[name], 1e-9, name)
	}
	plus := func(a, b string) (sum []float64) {
		for i := range all[a] {
			sum = append(sum, all[a][i]+all[b][i])
		}
		return sum
	}
	require.Equal(t, all["tokens"], all["x"])
	v := naiveLinear(all["attention norm"], weight("self_attn.v_proj"), 12) // (5, 4): two heads of width 2
	heads := make([]float64, 5*12)
	for h := range 6 {
		for q := range 5 {
			for k := range 5 {
				for d := range 2 {
					heads[q*12+h*2+d] += all["weights"][h*25+q*5+k] * v[k*4+h/3*2+d]
				}
			}
		}
	}
	near("heads", heads)
	near("attended", naiveLinear(all["heads"], weight("self_attn.o_proj"), 12))
	near("after attention", plus("x", "attended"))
	near("up", naiveLinear(all["mlp norm"], weight("mlp.up_proj"), 12))
	near("gate", naiveLinear(all["mlp norm"], weight("mlp.gate_proj"), 12))
	activated := make([]float64, len(all["up"]))
	for i, up := range all["up"] {
		gate := all["gate"][i]
		activated[i] = gate / (1 + math.Exp(-gate)) * up
	}
	near("activated", activated)
	near("fed", naiveLinear(all["activated"], weight("mlp.down_proj"), 17))
	near("after mlp", plus("after attention", "fed"))
	head, _ := p.Get("lm_head.weight")
	near("logits", naiveLinear(all["last norm"], head.Float64s(), 12))
}

// Each placement of norms has stages of its own, whose sums are those of the stages that they name.
func TestStagesByPlacement(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(c *layers.DecoderConfig, b *layers.BlockConfig)
		want   []string // sums
	}{
		{"post", func(_ *layers.DecoderConfig, b *layers.BlockConfig) { b.NormPlacement = layers.PostNorm },
			[]string{"attention sum = x + attended", "mlp sum = after attention + fed"}},
		{"sandwich, scaled", func(_ *layers.DecoderConfig, b *layers.BlockConfig) {
			b.NormPlacement, b.ResidualScale = layers.SandwichNorm, 0.5
		}, []string{"after attention = x + attended norm scaled", "after mlp = after attention + fed norm scaled"}},
		{"output", func(_ *layers.DecoderConfig, b *layers.BlockConfig) { b.NormPlacement = layers.OutputNorm },
			[]string{"after attention = x + attended norm", "after mlp = after attention + fed norm"}},
		{"parallel", func(_ *layers.DecoderConfig, b *layers.BlockConfig) { b.Parallel = true },
			[]string{"after mlp = x + attended + fed"}},
		{"positions", func(c *layers.DecoderConfig, _ *layers.BlockConfig) { c.LearnedPositions = true },
			[]string{"after attention = x + attended", "after mlp = after attention + fed"}},
	} {
		c := tinyDecoder()
		row.change(&c, &c.Blocks[0])
		all, formulas, _ := stagesOf(t, c)
		var sums []string
		for _, f := range formulas {
			name, text, _ := strings.Cut(f, " = ")
			if strings.ContainsAny(text, "/·(") || !strings.Contains(text, " + ") {
				continue
			}
			sums = append(sums, f)
			want := make([]float64, len(all[name]))
			for term := range strings.SplitSeq(text, " + ") {
				require.Contains(t, all, term)
				for i, v := range all[term] {
					want[i] += v
				}
			}
			require.InDeltaSlice(t, want, all[name], 1e-12, name)
		}
		require.Equal(t, row.want, sums, row.name)
		require.Equal(t, c.LearnedPositions, all["embedded"] != nil)
	}
}
