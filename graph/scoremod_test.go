package graph_test

import (
	"encoding/json"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// wave depends on all arguments of the function.
var wave = graph.ScoreFunc{Name: "wave",
	Score: func(x float64, b, h, t, s int) float64 { return x/2 + math.Sin(x+float64(b+2*h+3*t-s)) },
	Slope: func(x float64, b, h, t, s int) float64 { return 0.5 + math.Cos(x+float64(b+2*h+3*t-s)) }}

func constantSlope(float64, int, int, int, int) float64 { return 1 }

// ALiBi and a cap as functions, and a bias as a graph, equal the built-in ones, in the forms that accept them and on
// both machines.
func TestScoreModsAreTheBuiltInOnes(t *testing.T) {
	r := random(5)
	in := inputs(normal(r, 2, 69, 12), normal(r, 2, 133, 6), normal(r, 2, 133, 4), normal(r, 4, 69, 133))
	dout := normal(r, 2, 69, 8)
	alibi := func(c *graph.AttentionConfig, in G.Nodes, dt tensor.Dtype) (err error) {
		c.RelativeBias, err = graph.ALiBi(in[0].Graph(), dt, graph.ALiBiConfig{Heads: 4, T: 69, S: 133, Offset: 64})
		return err
	}
	set := func(m graph.ScoreMod) func(*graph.AttentionConfig, G.Nodes, tensor.Dtype) error {
		return func(c *graph.AttentionConfig, in G.Nodes, _ tensor.Dtype) error {
			c.Score = m
			if _, ok := m.(graph.ScoreGraph); ok {
				c.Score = graph.ScoreGraph{Of: func(scores *G.Node) (*G.Node, error) { return graph.Add(scores, in[3]) }}
			}
			return nil
		}
	}
	for _, c := range []struct {
		name    string
		is, of  func(c *graph.AttentionConfig, in G.Nodes, dt tensor.Dtype) error
		asGraph bool
	}{
		{name: "alibi", is: alibi, of: set(graph.ScoreFunc{
			Score: func(x float64, _, h, t, s int) float64 {
				return x - math.Exp2(-2*float64(h+1))*math.Abs(float64(t+64-s))
			},
			Slope: constantSlope,
		})},
		{name: "softcap",
			is: func(c *graph.AttentionConfig, _ G.Nodes, _ tensor.Dtype) error { c.Softcap = 1.5; return nil },
			of: set(graph.ScoreFunc{
				Score: func(x float64, _, _, _, _ int) float64 { return 1.5 * math.Tanh(x/1.5) },
				Slope: func(x float64, _, _, _, _ int) float64 { return 1 - math.Pow(math.Tanh(x/1.5), 2) },
			})},
		{name: "bias", asGraph: true, of: set(graph.ScoreGraph{}),
			is: func(c *graph.AttentionConfig, in G.Nodes, _ tensor.Dtype) error { c.Bias = in[3]; return nil }},
	} {
		for _, p := range tolerances {
			for form, by := range map[string]func(graph.AttentionConfig) func(G.Nodes) (*G.Node, error){
				"fused": fusedBy, "composed": composedBy,
			} {
				if c.asGraph && form == "fused" {
					continue
				}
				run := func(set func(*graph.AttentionConfig, G.Nodes, tensor.Dtype) error,
					machine func(e expression, t testing.TB) result) result {
					in := in
					if !c.asGraph {
						in = in[:3]
					}
					e := express(t, func(in G.Nodes) (*G.Node, error) {
						a := graph.AttentionConfig{Heads: 4, KVHeads: 2, Mask: mask.Causal{Align: mask.LowerRight}}
						if err := set(&a, in, p.dt); err != nil {
							return nil, err
						}
						return by(a)(in)
					}, in, p.dt)
					e.differentiate(t, in, dout, p.dt)
					return machine(e, t)
				}
				got := run(c.of, expression.onOurs)
				nearResult(t, fmt.Sprint(c.name, " ", form, " ", p.dt), run(c.is, expression.onOurs), got, p.tol)
				require.Equal(t, bits(run(c.of, expression.onTape).out), bits(got.out))
			}
		}
	}
}

func TestWrongScoreModsAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	q, k := b.f(2, 3, 6), b.f(2, 7, 6)
	half := func(float64, int, int, int, int) float64 { return 0.5 }
	late := graph.ScoreFunc{Name: "late", Slope: constantSlope, Score: func(x float64, _, _, t, s int) float64 {
		if t == 2 && s == 6 {
			panic("too late")
		}
		return x
	}}
	for _, c := range []struct {
		mod             graph.ScoreMod
		composed, fused string
	}{
		{mod: graph.ScoreFunc{Name: "mine", Score: wave.Score},
			composed: `got ScoreFunc "mine" without Score or Slope, want both`},
		{mod: graph.ScoreFunc{Name: "mine", Score: wave.Score, Slope: half},
			composed: `ScoreFunc "mine": Slope of score -2.3 for batch 0, head 0, query 0 and key 0: got 0.5, want -0.166276, ` +
				"the difference quotient of Score"},
		{mod: late,
			composed: `ScoreFunc "late": got a panic for batch 1, head 2, query 2 and key 6: too late, want a number`},
		{mod: graph.ScoreGraph{Name: "mine"}, composed: `got ScoreGraph "mine" without Of, want a function`,
			fused: `got ScoreGraph "mine", want a ScoreFunc, or Attention for it`},
		{mod: graph.ScoreGraph{Name: "mine", Of: graph.MergeHeads},
			composed: `ScoreGraph "mine": shape (2, 3, 21), want (2, 3, 3, 7), that of the scores`,
			fused:    `got ScoreGraph "mine", want a ScoreFunc, or Attention for it`},
		{mod: graph.ScoreGraph{Name: "mine", Of: func(*G.Node) (*G.Node, error) { return nil, nil }},
			composed: `ScoreGraph "mine": got nil, want a node`,
			fused:    `got ScoreGraph "mine", want a ScoreFunc, or Attention for it`},
	} {
		if c.fused == "" {
			c.fused = c.composed
		}
		config := graph.AttentionConfig{Heads: 3, Score: c.mod}
		_, _, err := graph.Attention(q, k, k, config)
		require.EqualError(t, err, "graph: Attention: score: "+c.composed)
		_, err = fusedAttention(q, k, k, config)
		require.EqualError(t, err, "graph: FusedAttention: score: "+c.fused)
	}
	_, err := json.Marshal(wave)
	require.ErrorContains(t, err, `got ScoreFunc "wave", which has no JSON, want none`)
}

// A panic in a function becomes the error of the op, forward and backward; the next run works. Ops are not merged.
func TestAPanicInAScoreFuncIsAnErrorOfTheOp(t *testing.T) {
	var bad atomic.Bool
	fails := func(f func(float64, int, int, int, int) float64) func(float64, int, int, int, int) float64 {
		return func(x float64, b, h, t, s int) float64 {
			if bad.Load() && b == 1 && h == 2 && t == 66 && s == 3 {
				panic("no answer")
			}
			return f(x, b, h, t, s)
		}
	}
	const said = `: ScoreFunc "mine": got a panic for batch 1, head 2, query 66 and key 3: no answer, want a number`
	forward := graph.ScoreFunc{Name: "mine", Score: fails(wave.Score), Slope: wave.Slope}
	backward := graph.ScoreFunc{Name: "mine", Score: wave.Score, Slope: fails(wave.Slope)}
	in := inputs(normal(random(3), 2, 67, 6))
	for name, c := range map[string]struct {
		by   func(graph.AttentionConfig) func(G.Nodes) (*G.Node, error)
		of   graph.ScoreFunc
		want string
	}{
		"fused":              {fusedBy, forward, "FusedAttention"},
		"fused, backward":    {fusedBy, backward, "FusedAttentionBackward"},
		"composed":           {composedBy, forward, "ScoreFunc"},
		"composed, backward": {composedBy, backward, "ScoreFuncBackward"},
	} {
		nodes := G.Nodes{}
		e := express(t, func(in G.Nodes) (*G.Node, error) {
			attend := c.by(graph.AttentionConfig{Heads: 3, Score: c.of})
			again, err := attend(G.Nodes{in[0], in[0], in[0]})
			require.NoError(t, err)
			nodes = append(nodes, again)
			return attend(G.Nodes{in[0], in[0], in[0]})
		}, in, tensor.Float64)
		require.NotSame(t, nodes[0], e.out, name)
		e.differentiate(t, in, normal(random(4), 2, 67, 6), tensor.Float64)
		ours, err := machine.New(append(G.Nodes{e.out}, e.grads...)...)
		require.NoError(t, err)
		tape := G.NewTapeMachine(e.g)
		for _, vm := range []G.VM{ours, tape} {
			bad.Store(true)
			require.ErrorContains(t, vm.RunAll(), "graph: "+c.want+said, name)
			bad.Store(false)
			vm.Reset()
			require.NoError(t, vm.RunAll(), name)
			vm.Reset()
		}
		tape.Close()
	}
}
