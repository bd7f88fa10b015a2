package machine_test

import (
	"maps"

	"attention/internal/golden"

	G "gorgonia.org/gorgonia"
	"pgregory.net/rapid"
)

// stockOps are Gorgonia's own ops. Ops that grow fast get small numbers, and ops for positive numbers get only positive
// ones.
var stockOps = merge(elementOps, comparisonOps, broadcastOps, reductionOps, shapeOps, productOps, imageOps)

func merge(all ...map[string]drawer) map[string]drawer {
	m := map[string]drawer{}
	for _, ops := range all {
		maps.Copy(m, ops)
	}
	return m
}

func of(f func(*G.Node) (*G.Node, error)) drawer {
	return func(r *randomGraph) (*G.Node, error) { return f(r.node()) }
}

func ofSmall(f func(*G.Node) (*G.Node, error)) drawer {
	return func(r *randomGraph) (*G.Node, error) { return f(G.Must(G.Tanh(r.node()))) }
}

func ofPositive(f func(*G.Node) (*G.Node, error)) drawer {
	return func(r *randomGraph) (*G.Node, error) { return f(r.positive(r.node())) }
}

// flat is an op whose derivative is zero. Gorgonia does not know the derivative, so the result is multiplied by the
// op's input.
func flat(f func(*G.Node) (*G.Node, error)) drawer {
	return func(r *randomGraph) (*G.Node, error) {
		x := r.node()
		y, err := f(x)
		if err != nil {
			return nil, err
		}
		return G.HadamardProd(G.Must(G.Tanh(x)), y)
	}
}

// pair is an op of two nodes of one shape, or of a node and a number on either side.
func pair(f func(x, y *G.Node) (*G.Node, error)) drawer {
	return func(r *randomGraph) (*G.Node, error) {
		x := r.node()
		switch rapid.IntRange(0, 3).Draw(r.t, "number") {
		case 0:
			return f(x, r.of(0))
		case 1:
			return f(r.of(0), x)
		}
		return f(x, r.twin(x))
	}
}

var elementOps = map[string]drawer{
	"Abs":         of(G.Abs),
	"Sign":        flat(G.Sign),
	"Ceil":        flat(G.Ceil),
	"Floor":       flat(G.Floor),
	"Sin":         of(G.Sin),
	"Cos":         of(G.Cos),
	"Exp":         ofSmall(G.Exp),
	"Log":         ofPositive(G.Log),
	"Log2":        ofPositive(G.Log2),
	"Neg":         of(G.Neg),
	"Square":      ofSmall(G.Square),
	"Sqrt":        ofPositive(G.Sqrt),
	"Inverse":     ofPositive(G.Inverse),
	"InverseSqrt": ofPositive(G.InverseSqrt),
	"Cube":        ofSmall(G.Cube),
	"Tanh":        of(G.Tanh),
	"Sigmoid":     of(G.Sigmoid),
	"Log1p":       ofPositive(G.Log1p),
	"Expm1":       ofSmall(G.Expm1),
	"Softplus":    of(G.Softplus),
	"Rectify":     of(G.Rectify),
	"LeakyRelu":   of(func(x *G.Node) (*G.Node, error) { return G.LeakyRelu(x, 0.25) }),
	"Mish":        of(G.Mish),
	"Add":         pair(G.Add),
	"Add, constant": func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		v := make([]float64, x.Shape().TotalSize())
		v[0] = float64(r.count()) // constants that print alike become one node
		return G.Add(x, G.NewConstant(golden.Dense(r.dt, v, x.Shape()...)))
	},
	"Sub":          pair(G.Sub),
	"HadamardProd": pair(func(x, y *G.Node) (*G.Node, error) { return G.HadamardProd(G.Must(G.Tanh(x)), y) }),
	"HadamardDiv": func(r *randomGraph) (*G.Node, error) {
		return pair(func(x, y *G.Node) (*G.Node, error) { return G.HadamardDiv(x, r.positive(y)) })(r)
	},
	"Pow": func(r *randomGraph) (*G.Node, error) {
		return pair(func(x, y *G.Node) (*G.Node, error) { return G.Pow(r.positive(x), G.Must(G.Tanh(y))) })(r)
	},
	"MinBetween": func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		return G.MinBetween(x, r.twin(x))
	},
	"MaxBetween": func(r *randomGraph) (*G.Node, error) {
		x := r.any()
		return G.MaxBetween(x, r.twin(x))
	},
}

var comparisons = map[string]func(x, y *G.Node, retSame bool) (*G.Node, error){
	"Lt": G.Lt, "Gt": G.Gt, "Lte": G.Lte, "Gte": G.Gte, "Eq": G.Eq, "Ne": G.Ne,
}

var comparisonOps = func() map[string]drawer {
	ops := map[string]drawer{}
	for name, f := range comparisons {
		ops[name] = func(r *randomGraph) (*G.Node, error) {
			z, err := pair(func(x, y *G.Node) (*G.Node, error) { return f(x, y, true) })(r)
			if err != nil {
				return nil, err
			}
			return G.HadamardProd(z, r.twin(z))
		}
		ops[name+", bool"] = func(r *randomGraph) (*G.Node, error) {
			x := r.any()
			z, err := f(x, r.twin(x), false)
			r.wanted = append(r.wanted, z) // no op of ours computes these
			return x, err
		}
	}
	return ops
}()

// tapeOps are the ops that the tape machine computes correctly for matrices.
var tapeOps = func() map[string]drawer {
	ops := merge(elementOps, ownOps)
	for _, name := range []string{"Mul", "Transpose"} {
		ops[name] = stockOps[name]
	}
	for _, name := range []string{"MinBetween", "MaxBetween"} {
		delete(ops, name)
	}
	return ops
}()
