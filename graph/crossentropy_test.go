package graph_test

import (
	"math"
	"testing"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func crossEntropyCases() []opCase {
	return []opCase{
		{name: "cross_entropy", op: func(in G.Nodes) (*G.Node, error) { return graph.CrossEntropy(in[0], in[1]) },
			want: func(in []array) array { return naiveCrossEntropy(in[0], in[1]) },
			in:   then(shapes(s{2, 3, 7}), ids([]float64{6, 0, -100, 1, -100, 1}, 2, 3))},
		{name: "cross_entropy_one", op: func(in G.Nodes) (*G.Node, error) { return graph.CrossEntropy(in[0], in[1]) },
			want: func(in []array) array { return naiveCrossEntropy(in[0], in[1]) }, in: then(shapes(s{7}), key(2))},
	}
}

func naiveCrossEntropy(logits, targets array) array {
	p := naiveSoftmax(logits).rows()
	var sum, count float64
	for i, target := range targets.v {
		if target != -100 {
			sum -= math.Log(p.at(i, int(target)))
			count++
		}
	}
	return array{nil, []float64{sum / count}}
}

// −∞ as a logit is a token that cannot come; as the target's it is an infinite loss.
func TestCrossEntropyOfExtremeLogits(t *testing.T) {
	for _, c := range []struct {
		name   string
		logits []float64
		target float64
		want   float64
	}{
		{name: "huge and right", logits: []float64{1e30, -1e30, 0}, target: 0, want: 0},
		{name: "huge and wrong", logits: []float64{1e4, 0, 0}, target: 1, want: 1e4},
		{name: "impossible others", logits: []float64{-inf, 3, -inf}, target: 1, want: 0},
		{name: "impossible target", logits: []float64{-inf, 3, 3}, target: 0, want: inf},
		{name: "NaN", logits: []float64{0, nan, 0}, target: 0, want: nan},
	} {
		for _, p := range tolerances {
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				in := append(floats(of(c.logits, 1, 3)), ids([]float64{c.target}))
				got := express(t, func(in G.Nodes) (*G.Node, error) { return graph.CrossEntropy(in[0], in[1]) }, in, p.dt).onOurs(t)
				near(t, "loss", array{[]int{}, []float64{c.want}}, got.out, p.tol)
			})
		}
	}
}
