package layers

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CosSim returns the cosine similarity of each row of x (B, E) to each row of y (M, E), as (B, M)
// (sentence_transformers.util.cos_sim). Each row is divided by max(‖row‖, 1e-12), as by torch.nn.functional.normalize.
// Rows below that length count as vectors of length 1e-12: a row of zeros has the similarity 0 to every row, and its
// gradient is 1e12 times that of the normalised row.
func CosSim(b *Build, x, y *G.Node) (*G.Node, error) {
	f := begin(b, "CosSim")
	if !f.isRows("x", x) || !f.isRows("y", y, last(x)) {
		return f.result(nil)
	}
	return f.result(f.cosSim(x, y))
}

func (f *formula) cosSim(x, y *G.Node) *G.Node {
	return f.Of(f.b.precision.Linear(f.normalized(x, last(x)), f.normalized(y, last(x)), nil))
}

// PairwiseCosSim returns the cosine similarity of each row of x (B, E) to the row of y (B, E) with its number, as (B)
// (sentence_transformers.util.pairwise_cos_sim). For short rows see CosSim.
func PairwiseCosSim(b *Build, x, y *G.Node) (*G.Node, error) {
	f := begin(b, "PairwiseCosSim")
	if !f.isRows("x", x) || !f.isRows("y", y, x.Shape()...) {
		return f.result(nil)
	}
	return f.result(f.pairwiseCosSim(x, y))
}

func (f *formula) pairwiseCosSim(x, y *G.Node) *G.Node {
	return f.dots(f.normalized(x, last(x)), f.normalized(y, last(x)))
}

// MultipleNegativesRankingLoss compares each text with its own match and with those of all other texts in the batch:
// InfoNCE, the loss with in-batch negatives (van den Oord et al. 2018). The zero value has the defaults of
// sentence-transformers.
type MultipleNegativesRankingLoss struct {
	Scale float64 `json:"scale,omitempty"` // of similarities, 1/temperature, above 0; 0 means 20
}

// Forward returns the mean cross entropy of Scale·CosSim(anchors, candidates), in nats: a scalar. anchors are (B, E) and
// candidates (M, E) with M ≥ B. The first B candidates are the positives, in the order of the anchors. Every other
// candidate is a negative of an anchor, and those from row B on are the hard negatives.
//
// equal, a mask of (B, M) or nil, shows the candidates that are no negatives of an anchor, because they equal its
// positive: mask.Segments{Query: ids of the positives (B), Key: ids of the candidates (M)} of ids that equal texts
// share. They do not count, except for the positive itself.
func (l MultipleNegativesRankingLoss) Forward(b *Build, anchors, candidates *G.Node, equal mask.Mask) (*G.Node, error) {
	f := begin(b, "MultipleNegativesRankingLoss")
	scale := f.positive(l, "Scale", l.Scale, 20)
	if !f.isRows("anchors", anchors) || !f.isRows("candidates", candidates, last(anchors)) {
		return f.result(nil)
	}
	n, m := length(anchors), length(candidates)
	if m < n {
		f.fail(errorf(f.name, "candidates: got %d rows, want at least the B=%d of anchors", m, n))
	}
	logits := f.Of(graph.Scale(f.cosSim(anchors, candidates), scale)) // (B, M)
	if equal != nil {
		positive := mask.SlidingWindow{Align: mask.UpperLeft}
		logits = f.Of(graph.MaskFill(logits, mask.Or(positive, mask.Not(equal))))
	}
	return f.crossEntropy(logits, f.numbersTo(n))
}

// CoSENTLoss puts the cosine similarities of pairs of texts in the order of their scores (Su 2022). The zero value has
// the defaults of sentence-transformers.
type CoSENTLoss struct {
	Scale float64 `json:"scale,omitempty"` // of similarities, above 0; 0 means 20
}

// Forward returns log(1 + Σ exp(Scale·(cosⱼ − cosᵢ))), a scalar, for cos = PairwiseCosSim(x, y) of x and y (B, E) and
// the finite scores (B). The sum is over all i and j with scoreᵢ > scoreⱼ. Without such pairs the loss and all
// gradients are 0. Scores have no gradient. Memory grows as B².
func (l CoSENTLoss) Forward(b *Build, x, y, scores *G.Node) (*G.Node, error) {
	f := begin(b, "CoSENTLoss")
	scale := f.positive(l, "Scale", l.Scale, 20)
	if !f.isRows("x", x) || !f.isRows("y", y, x.Shape()...) || !f.isNode("scores", scores) ||
		!f.isOfParams("scores", scores) {
		return f.result(nil)
	}
	n := length(x)
	if !slices.Equal(scores.Shape(), tensor.Shape{n}) {
		f.fail(errorf(f.name, "scores: shape %v, want (B=%d)", scores.Shape(), n))
		return f.result(nil)
	}
	less := func(v *G.Node) *G.Node { // vᵢ − vⱼ, (B, B)
		column := f.Of(G.Reshape(v, tensor.Shape{n, 1}))
		return f.Of(graph.Sub(column, f.Of(graph.Transpose(column))))
	}
	counts := f.Of(graph.ReLU(less(scores))) // above 0 where scoreᵢ > scoreⱼ
	logits := f.Of(graph.Scale(less(f.pairwiseCosSim(x, y)), -scale))
	logits = f.Of(graph.Where(counts, logits, f.filled(math.Inf(-1), 1)))
	// The cross entropy of class 0, whose logit is 0.
	logits = f.Of(graph.Concat(f.filled(0, 1, 1), f.Of(G.Reshape(logits, tensor.Shape{1, n * n}))))
	return f.crossEntropy(logits, f.numbersTo(1))
}

// TripletDistanceMetric is a distance between vectors.
type TripletDistanceMetric string

// The kinds of TripletDistanceMetric, by sentence-transformers' names.
const (
	Euclidean TripletDistanceMetric = "euclidean" // ‖x − y‖
	Cosine    TripletDistanceMetric = "cosine"    // 1 − PairwiseCosSim
	Manhattan TripletDistanceMetric = "manhattan" // Σ |x − y|
)

// TripletLoss makes an anchor nearer to its positive than to its negative, by a margin (Schroff et al. 2015). The zero
// value has the defaults of sentence-transformers.
type TripletLoss struct {
	DistanceMetric TripletDistanceMetric `json:"distance_metric,omitempty"` // zero means Euclidean
	TripletMargin  float64               `json:"triplet_margin,omitempty"`  // above 0; 0 means 5
}

// Forward returns the mean over the rows of max(distance(anchor, positive) − distance(anchor, negative) + TripletMargin,
// 0), a scalar. All three are (B, E). Equal vectors pass no gradient of their Euclidean or Manhattan distance, and
// Euclidean distances below 1e-38 count as 0.
func (l TripletLoss) Forward(b *Build, anchors, positives, negatives *G.Node) (*G.Node, error) {
	f := begin(b, "TripletLoss")
	metric := cmp.Or(l.DistanceMetric, Euclidean)
	f.check(config.OneOf(l, "DistanceMetric", metric, Euclidean, Cosine, Manhattan))
	margin := f.positive(l, "TripletMargin", l.TripletMargin, 5)
	if !f.isRows("anchors", anchors) || !f.isRows("positives", positives, anchors.Shape()...) ||
		!f.isRows("negatives", negatives, anchors.Shape()...) {
		return f.result(nil)
	}
	excess := f.Of(graph.Sub(f.distance(metric, anchors, positives), f.distance(metric, anchors, negatives))) // (B)
	excess = f.Of(graph.ReLU(f.Of(graph.Add(excess, f.filled(margin, 1)))))
	return f.result(f.Of(graph.Mean(excess, graph.ReduceConfig{})))
}

// distance returns the distance (B) of each row of x (B, E) to that of y, less 1 if it is Cosine.
func (f *formula) distance(m TripletDistanceMetric, x, y *G.Node) *G.Node {
	switch m {
	case Cosine:
		return f.Of(graph.Scale(f.pairwiseCosSim(x, y), -1))
	case Manhattan:
		each := f.Of(graph.L1(x, y, graph.LossConfig{Reduction: graph.NoReduction}))
		return f.Of(graph.Sum(each, graph.ReduceConfig{Dim: []int{-1}}))
	}
	// ‖d‖ = d·u with u = d/‖d‖, which is also the gradient, and 0 at 0. 1/1e-38 is a float32.
	d := f.Of(graph.Sub(x, y))
	return f.dots(d, f.Of(graph.Detach(f.Of(graph.L2Norm(d, f.filled(1, last(x)), 1e-38)))))
}

// dots returns the products (B) of the rows of x (B, E) with those of y.
func (f *formula) dots(x, y *G.Node) *G.Node {
	return f.Of(graph.Sum(f.Of(graph.Mul(x, y)), graph.ReduceConfig{Dim: []int{-1}}))
}

// normalized returns each row of x (…, width) divided by its length, or by 1e-12 if that is more
// (torch.nn.functional.normalize).
func (f *formula) normalized(x *G.Node, width int) *G.Node {
	return f.Of(graph.L2Norm(x, f.filled(1, width), 1e-12))
}

// numbersTo returns a constant of the ints from 0 to n−1.
func (f *formula) numbersTo(n int) *G.Node {
	return constantIn(f.b.graph, "numbers", tensor.New(tensor.WithShape(n), tensor.WithBacking(tensor.Range(tensor.Int, 0, n))))
}

// positive returns a field of loss l, or its default if it is 0.
func (f *formula) positive(l any, field string, v, defaults float64) float64 {
	v = cmp.Or(v, defaults)
	limit := math.MaxFloat64
	if f.b.params.Dtype() == tensor.Float32 {
		limit = math.MaxFloat32
	}
	if !(v > 0 && v <= limit) {
		f.check(config.Errorf(l, field, "got %v, want a number above 0 and at most %.3g, or 0 for %v", v, limit, defaults))
	}
	return v
}

// check fails with err, if there is one.
func (f *formula) check(err error) {
	if err != nil {
		f.fail(err)
	}
}

// isRows refuses all but vectors (R, E) of the build's type. want is the lengths of the last axes, if they are known.
func (f *formula) isRows(arg string, x *G.Node, want ...int) bool {
	if !f.isNode(arg, x) {
		return false
	}
	s := x.Shape()
	if len(s) != 2 || s.TotalSize() == 0 || !slices.Equal(s[2-len(want):], want) {
		text := []string{"(B, E)", "(M, E=%d)", "(B=%d, E=%d)"}[len(want)]
		ends := make([]any, len(want))
		for i, n := range want {
			ends[i] = n
		}
		return f.fail(errorf(f.name, "%s: shape %v, want %s", arg, s, fmt.Sprintf(text, ends...)))
	}
	return f.isOfParams(arg, x)
}
