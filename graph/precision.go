package graph

import (
	"fmt"
	"slices"

	"attention/internal/kernel"
	"attention/internal/simd"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Precision says how products read their float32 operands. Their sums and results, and all other ops, stay float32
// (torch.autocast, but for products only).
//
// MatMul, Linear, Scores and AdditiveAttention are methods of a Precision; AttentionConfig, GRUConfig and
// LinearCrossEntropyConfig have it as a field. The gradients of a product are products of the
// same precision, whose operands are rounded too.
type Precision int

const (
	FullPrecision Precision = iota // operands of full precision
	BFloat16                       // operands rounded to bfloat16, with 8 bits of precision, to nearest even
)

// String returns "full" or "bf16".
func (p Precision) String() string {
	switch p {
	case FullPrecision, BFloat16:
		return kernel.Precision(p).String()
	}
	return fmt.Sprintf("Precision(%d)", int(p))
}

// ParsePrecision returns the precision of a name, "full" or "bf16".
func ParsePrecision(name string) (Precision, error) {
	for _, p := range []Precision{FullPrecision, BFloat16} {
		if p.String() == name {
			return p, nil
		}
	}
	return FullPrecision, fmt.Errorf("graph: precision: got %.40q, want full or bf16", name)
}

// Check returns an error if products of a type cannot or should not be computed in the precision: BFloat16 is for
// float32, and for processors on which it is at least 1.5 times as fast. For some families and models of processors
// this is known; on others it is measured once. ATTENTION_BF16=emulated in the environment accepts BFloat16 on every
// processor. The ops themselves accept it everywhere.
func (p Precision) Check(dt tensor.Dtype) error {
	if err := p.check("", dt); err != nil || p == FullPrecision {
		return err
	}
	if err := simd.CheckBF16(); err != nil {
		return fmt.Errorf("graph: precision: %w", err)
	}
	return nil
}

// check returns an error for an unknown precision, or for one that the type does not support. op is the prefix of the
// error, such as "MatMul: ".
func (p Precision) check(op string, dt tensor.Dtype) error {
	switch {
	case p == FullPrecision:
		return nil
	case p != BFloat16:
		return fmt.Errorf("graph: %sprecision: got %v, want FullPrecision or BFloat16", op, p)
	case dt.Type == nil:
		return fmt.Errorf("graph: %sprecision: got %v of no type, want it of float32", op, p)
	case dt != tensor.Float32:
		return fmt.Errorf("graph: %sprecision: got %v of %v, want it of float32", op, p, dt)
	}
	return nil
}

// operands is embedded in the bodies of ops that multiply.
type operands struct{ Precision Precision }

// kernel returns the kernels' constant for the precision.
func (o operands) kernel() kernel.Precision { return kernel.Precision(o.Precision) }

// MatMul is the function MatMul in a precision.
func (p Precision) MatMul(a, b *G.Node) (*G.Node, error) {
	of := operands{p}
	if b != nil && len(b.Shape()) == 2 {
		return applyTyped(rowProduct[float32]{operands: of}, rowProduct[float64]{operands: of}, a, b)
	}
	return applyTyped(batchProduct[float32]{operands: of}, batchProduct[float64]{operands: of}, a, b)
}

// Scores is the function Scores in a precision.
func (p Precision) Scores(q, k *G.Node) (*G.Node, error) {
	of := operands{p}
	return applyTyped(batchProduct[float32]{of, false, true}, batchProduct[float64]{of, false, true}, q, k)
}

// Linear is the function Linear in a precision. The bias is added in float32.
func (p Precision) Linear(x, weight, bias *G.Node) (*G.Node, error) {
	of := operands{p}
	y, err := applyTyped(rowProduct[float32]{of, true}, rowProduct[float64]{of, true}, x, weight)
	if err != nil || bias == nil {
		return y, err
	}
	in, err := checked("Linear", named("x", "bias"), y, bias)
	if err != nil {
		return nil, err
	}
	if out := last(y.Shape()); !slices.Equal(in[1].Shape(), tensor.Shape{out}) {
		return nil, &ShapeError{"Linear", "bias", bias.Shape(), fmt.Sprintf("(Out=%d)", out)}
	}
	return Add(y, in[1])
}
