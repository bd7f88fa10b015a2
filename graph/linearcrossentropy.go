package graph

import (
	"cmp"
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LinearCrossEntropyConfig sets LinearCrossEntropy.
type LinearCrossEntropyConfig struct {
	CrossEntropyConfig // its Reduction is MeanReduction or SumReduction

	// Scale multiplies the logits; 0 means 1. Softcap then keeps them within ±Softcap; 0 means no cap.
	Scale, Softcap float64

	// WithX and WithWeight compute the gradients by x and by weight together with the loss, from the same logits, for a
	// graph in which gorgonia.Grad requests them. Without these, requesting a gradient computes the logits again.
	WithX, WithWeight bool

	Precision Precision // of the products for the logits and their gradients; the loss itself is computed in float32
}

// LinearCrossEntropy returns the cross entropy of the logits x·weightᵀ, in nats: a scalar, CrossEntropy(Linear(x,
// weight, nil), targets, c) for x (…, E), weight (V, E) and targets int (…), with Scale and Softcap applied to the
// logits in between. If there are more than 16 million logits, at most 256 rows of them and of their gradient are in
// memory at a time.
func LinearCrossEntropy(x, weight, targets *G.Node, c LinearCrossEntropyConfig) (*G.Node, error) {
	const name = "LinearCrossEntropy"
	s, err := c.resolve(name)
	if err != nil {
		return nil, err
	}
	if s.Reduction == NoReduction {
		return nil, fmt.Errorf("graph: %s: reduction: got %v, want mean or sum", name, s.Reduction)
	}
	if err := c.checkLogits(name, x); err != nil {
		return nil, err
	}
	in := G.Nodes{x, weight, targets, c.Weight}
	o := linearLoss{operands: operands{c.Precision}, classLoss: s, Scale: cmp.Or(c.Scale, 1), Softcap: c.Softcap,
		X: c.WithX, W: c.WithWeight}
	if o.W && weight != nil && weight.Graph() != nil && dense.IsStored(weight.Dtype()) {
		return nil, fmt.Errorf("graph: %s: with weight: got a weight stored in %s, want one of floats: "+
			"a stored one has no gradient", name, dense.TypeName(weight.Dtype()))
	}
	if o.X || o.W {
		along, err := applyTyped(linearGradients[float32]{linearLoss: o}, linearGradients[float64]{linearLoss: o},
			in...)
		if err != nil {
			return nil, err
		}
		in = append(in, along)
	}
	return applyTyped(linearCrossEntropy[float32]{o}, linearCrossEntropy[float64]{o}, in...)
}

// checkLogits checks the scale and the cap of the logits.
func (c LinearCrossEntropyConfig) checkLogits(op string, x *G.Node) error {
	for _, s := range []struct {
		name  string
		value float64
	}{{"scale", c.Scale}, {"softcap", c.Softcap}} {
		if !(s.value >= 0) {
			return fmt.Errorf("graph: %s: %s: got %v, want a finite number above 0, or 0 for none", op, s.name, s.value)
		}
		if s.value != 0 {
			if err := checkFitting(op, s.name, x, s.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// linearLoss holds the settings of LinearCrossEntropy and says which gradients are computed.
type linearLoss struct {
	operands
	classLoss
	Scale, Softcap float64
	X, W           bool
}

var linearLossArgs = []arg{{name: "x"}, {name: "weight", stored: true}, {name: "targets", integer: true},
	{name: "class_weight", fixed: true, optional: true}}

// check checks the shapes of the arguments.
func (o linearLoss) check(in []tensor.Shape) error {
	bad := func(arg string, got tensor.Shape, want string, v ...any) error {
		return &ShapeError{"LinearCrossEntropy", arg, got, fmt.Sprintf(want, v...)}
	}
	x, w := in[0], in[1]
	if x.Dims() == 0 {
		return bad("x", x, "(…, E)")
	}
	if w.Dims() != 2 || w[1] != last(x) {
		return bad("weight", w, "(V, E=%d)", last(x))
	}
	if rows := x[:x.Dims()-1]; !slices.Equal(in[2], rows) {
		return bad("targets", in[2], "%v", rows)
	}
	if in[3] != nil && (in[3].Dims() != 1 || in[3][0] != w[0]) {
		return bad("class_weight", in[3], "(V=%d)", w[0])
	}
	return nil
}

// room returns how many logits are in memory at a time.
func (o linearLoss) room(in []tensor.Shape) int {
	return kernel.LogitsAtOnce(in[2].TotalSize(), in[1][0])
}

// sumLinear returns the loss and writes the gradients that are not nil. The last argument may be workspace for the
// logits.
func sumLinear[F kernel.Float](o linearLoss, in []*tensor.Dense, dx, dw []F) (loss float64, err error) {
	l := kernel.LinearLoss[F]{X: dense.Floats[F](in[0]), W: weightMatrix[F](in[1]), Width: last(in[0].Shape()),
		Scale: F(o.Scale), Cap: F(o.Softcap), Precision: o.kernel(), DX: dx, DW: dw}
	l.Targets, l.Divisor, err = targetsOf("LinearCrossEntropy", o.classLoss, in[2], in[1].Shape()[0], floats[F](in[3]))
	if err != nil {
		return 0, err
	}
	if args := len(linearLossArgs); len(in) > args {
		l.Logits = dense.Floats[F](in[args])
	} else {
		l.Logits = make([]F, kernel.LogitsAtOnce(len(l.Targets.IDs), l.Targets.Cols))
	}
	return l.Sum() / l.Divisor, nil
}

// linearCrossEntropy is the loss. If gradients are computed together with the loss, linearGradients is the op's last
// argument; it contains the loss, too. It is an op because CrossEntropy of a Linear, which holds all logits, takes 4
// times the memory for 32,768 classes (BenchmarkFormulas/LinearCrossEntropy).
type linearCrossEntropy[F kernel.Float] struct{ linearLoss }

func (o linearCrossEntropy[F]) along() bool { return o.X || o.W }

func (o linearCrossEntropy[F]) spec() spec {
	if o.along() {
		return spec{name: "LinearCrossEntropy", args: append(slices.Clone(linearLossArgs), arg{name: "gradients", fixed: true})}
	}
	return spec{name: "LinearCrossEntropy", args: linearLossArgs, precision: o.Precision, room: o.room}
}

func (o linearCrossEntropy[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return tensor.ScalarShape(), o.check(in)
}

func (o linearCrossEntropy[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	y := dense.Floats[F](out)
	if o.along() {
		made := dense.Floats[F](in[len(in)-1])
		y[0] = made[len(made)-1]
		return nil
	}
	loss, err := sumLinear[F](o.linearLoss, in, nil, nil)
	y[0] = F(loss)
	return err
}

// dx and dweight are dloss times the gradients computed with the loss, or computed now.
func (o linearCrossEntropy[F]) backward(in G.Nodes, _, dloss *G.Node) (d G.Nodes, err error) {
	d = make(G.Nodes, len(in))
	for i, along := range []bool{o.X, o.W} {
		if dense.IsStored(in[i].Dtype()) {
			continue
		}
		made, which := in[len(in)-1], o.linearLoss
		if !along {
			which.X, which.W = i == 0, i == 1
			if made, err = apply(linearGradients[F]{linearLoss: which}, in[:len(linearLossArgs)]...); err != nil {
				return nil, err
			}
		}
		from := 0
		if i == 0 && which.W {
			from = in[1].Shape().TotalSize()
		}
		if d[i], err = apply(segment{outShape: outShape{in[i].Shape()}, From: from}, made); err != nil {
			return nil, err
		}
		if isOne(dloss) {
			continue
		}
		if d[i], err = Mul(d[i], dloss); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// isOne reports whether a node is the constant 1, which is the gradient of a loss that ends the graph.
func isOne(n *G.Node) bool {
	return n.Op() != nil && len(inputs(n)) == 0 && n.Value() != nil && fmt.Sprint(n.Value()) == "1"
}

// linearGradients is a vector: the gradients by weight and by x, each if it is requested, and the loss.
type linearGradients[F kernel.Float] struct {
	isGradient
	linearLoss
}

func (o linearGradients[F]) spec() spec {
	return spec{name: "LinearCrossEntropyGradients", args: linearLossArgs, precision: o.Precision, room: o.room}
}

func (o linearGradients[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if err := o.check(in); err != nil {
		return nil, err
	}
	size := 1
	if o.X {
		size += in[0].TotalSize()
	}
	if o.W {
		size += in[1].TotalSize()
	}
	return tensor.Shape{size}, nil
}

func (o linearGradients[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	var dx, dw []F
	rest := dense.Floats[F](out)
	if o.W {
		size := in[1].Shape().TotalSize()
		dw, rest = rest[:size:size], rest[size:]
	}
	if o.X {
		size := in[0].Shape().TotalSize()
		dx, rest = rest[:size:size], rest[size:]
	}
	loss, err := sumLinear(o.linearLoss, in, dx, dw)
	rest[0] = F(loss)
	return err
}
