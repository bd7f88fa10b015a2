package graph

import (
	"fmt"
	"math"
	"slices"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AverageHeads returns the mean over the heads of attention weights (…, H, T, S), as
// (…, T, S) (torch's average_attn_weights).
func AverageHeads(weights *G.Node) (*G.Node, error) {
	in, err := checked("AverageHeads", named("weights"), weights)
	if err != nil {
		return nil, err
	}
	if s := in[0].Shape(); s.Dims() < 3 {
		return nil, &ShapeError{"AverageHeads", "weights", s, "(…, H, T, S)"}
	}
	return Mean(in[0], ReduceConfig{Dim: []int{-3}})
}

// AppendRow returns x (…, S, E) with one more row in each sequence, (…, S+1, E): the E elements of row, or zeros if row
// is nil. torch's MultiheadAttention adds bias_k, bias_v and the zeros of add_zero_attn in this way.
func AppendRow(x, row *G.Node) (*G.Node, error) {
	args, in := named("x", "row"), G.Nodes{x, row}
	if row == nil {
		args, in = args[:1], in[:1]
	}
	in, err := checked("AppendRow", args, in...)
	if err != nil {
		return nil, err
	}
	to := in[0].Shape().Clone()
	if len(to) < 2 {
		return nil, &ShapeError{"AppendRow", "x", to, "(…, S, E)"}
	}
	to[len(to)-2] = 1
	rows := filled(in[0], 0, to...) // (…, 1, E)
	var f expr.Formula
	if row != nil {
		e := last(to)
		if row = in[1]; row.Shape().TotalSize() != e {
			return nil, &ShapeError{"AppendRow", "row", row.Shape(), fmt.Sprintf("(%d) or (1, …) of it", e)}
		}
		rows = f.Of(Add(rows, f.Of(G.Reshape(row, tensor.Shape{e}))))
	}
	return f.Result(f.Of(concatAlong(-2, in[0], rows)))
}

// DecayGate returns −exp(rate)⊙softplus(x + bias) for x (…, N), rate (N) and bias (N): the logarithms of decays between
// 0 and 1, computed as Mamba-2 and Gated DeltaNet do from A_log and dt_bias. With the rate log 1/16 and no bias, it is
// GLA's log sigmoid(−x)/16.
func DecayGate(x, rate, bias *G.Node) (*G.Node, error) {
	names := []string{"x", "rate", "bias"}
	in, err := checked("DecayGate", named(names...), x, rate, bias)
	if err != nil {
		return nil, err
	}
	s := in[0].Shape()
	if s.Dims() == 0 {
		return nil, &ShapeError{"DecayGate", "x", s, "(…, N)"}
	}
	for i, n := range in[1:] {
		if !slices.Equal(n.Shape(), tensor.Shape{last(s)}) {
			return nil, &ShapeError{"DecayGate", names[1+i], n.Shape(), fmt.Sprintf("(N=%d)", last(s))}
		}
	}
	var f expr.Formula
	u := f.Of(Add(in[0], in[2]))
	logs := f.Of(LogSigmoid(f.Of(Scale(u, -1)))) // log σ(−u) = −softplus(u)
	return f.Result(f.Of(Mul(logs, f.Of(Exp(in[1])))))
}

// DivideBySum returns x/Σx over the last axis: the simplest way to get weights that sum to one, and to renormalise
// weights after some were set to zero. A row that sums to zero gives zeros and passes no gradient.
// (torch.nn.functional.normalize divides by the square root of Σx² instead: see L2Norm.)
func DivideBySum(x *G.Node) (*G.Node, error) {
	in, err := checked("DivideBySum", named("x"), x)
	if err != nil {
		return nil, err
	}
	if s := in[0].Shape(); s.Dims() == 0 {
		return nil, &ShapeError{"DivideBySum", "x", s, "(…, S)"}
	}
	var f expr.Formula
	sum := f.Of(Sum(in[0], ReduceConfig{Dim: []int{-1}, KeepDim: true})) // (…, 1)
	divisor := f.Of(Where(sum, sum, constant(in[0], 1)))
	return f.Result(f.Of(whereNotZero(sum, f.Of(Div(in[0], divisor)))))
}

// ELUPlusOne returns elu(x) + 1, which is x + 1 above 0 and eˣ below: the map that makes the queries and keys of linear
// attention positive (Katharopoulos et al. 2020). 2020).
func ELUPlusOne(x *G.Node) (*G.Node, error) {
	var f expr.Formula
	// Clamp has no gradient at the limit itself, but the gradient at 0 is needed: the limit is the least normal number
	// above 0.
	below := f.Of(Exp(f.Of(Clamp(x, math.Inf(-1), 0x1p-126))))
	return f.Result(f.Of(Add(f.Of(ReLU(x)), below)))
}
