package layers

import (
	"iter"

	"attention/graph"
	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// adapter is the low-rank addition to one weight.
type adapter struct {
	a, b  Param // (r, in), (out, r)
	scale float64
}

// linearMap describes the linear map of a weight that may get an adapter.
type linearMap struct {
	transposed bool   // whether it is stored as (in, out)
	extra      bool   // whether it is an embedding or an output head, which AllLinear leaves out
	table      bool   // whether its rows are looked up: the row of an id is (in)
	head       string // the name of a separate output head, if the weight is an embedding tied to the head
}

// LoRA returns the config of the adapters, with its defaults, and whether there are any.
func (p *Params) LoRA() (LoRAConfig, bool) {
	if p.lora == nil {
		return LoRAConfig{}, false
	}
	return *p.lora, true
}

// IsAdapter reports whether the named parameter is an adapter's lora_A or lora_B.
func (p *Params) IsAdapter(name string) bool {
	for _, a := range p.adapters {
		if name == a.a.name || name == a.b.name {
			return true
		}
	}
	return false
}

// Adapter returns the adapter of the named weight, A (r, in) and B (out, r), the scale of B·A, and whether there is
// one.
func (p *Params) Adapter(name string) (a, b *tensor.Dense, scale float64, ok bool) {
	of, ok := p.adapters[name]
	return of.a.Value(), of.b.Value(), of.scale, ok
}

// Own returns the names and values that a file of the set should contain, in the order they were made: all of them or,
// after AddLoRA, the adapters and all other parameters that are not frozen. The frozen parameters are the model to
// which these are added. Package checkpoint writes and reads these.
func (p *Params) Own() iter.Seq2[string, *tensor.Dense] {
	return func(yield func(string, *tensor.Dense) bool) {
		for name, v := range p.All() {
			own := p.lora == nil || !p.Frozen(name) || p.IsAdapter(name)
			if own && !yield(name, v) {
				return
			}
		}
	}
}

// Merged returns the value of the named parameter with its adapter added, W + scale·B·A, in new memory; without an
// adapter it returns the parameter's own value.
func (p *Params) Merged(name string) (value *tensor.Dense, ok bool) {
	value, ok = p.Get(name)
	low, has := p.adapters[name]
	if !ok || !has {
		return value, ok
	}
	product, err := low.b.Value().MatMul(low.a.Value()) // (out, in)
	if err != nil {
		return nil, false
	}
	if value = dense.Widened(value); value == p.values[name] {
		value = value.Clone().(*tensor.Dense)
	}
	dense.ByType(p.dt, addScaled[float32], addScaled[float64])(value, product, low.scale, p.linear[name].transposed)
	return value, true
}

// addScaled adds scale·d (out, in) to a weight.
func addScaled[F float32 | float64](weight, d *tensor.Dense, scale float64, transposed bool) {
	to, from, in := dense.Floats[F](weight), dense.Floats[F](d), d.Shape()[1]
	row, col := in, 1
	if transposed {
		row, col = 1, d.Shape()[0]
	}
	for i, v := range from {
		to[i/in*row+i%in*col] += F(scale) * v
	}
}

// merged returns the node of a weight (out, in) with its adapter added, for an Eval graph, in which it replaces
// adapted.
func (f *formula) merged(weight Param) *G.Node {
	w := f.node(weight)
	low, ok := f.b.params.adapters[weight.name]
	if !ok {
		return w
	}
	b := f.Of(graph.Scale(f.node(low.b), low.scale))
	return f.Of(graph.Add(w, f.Of(f.b.precision.MatMul(b, f.node(low.a)))))
}

// adapted returns the result y of a linear map of x plus the output of the map's adapter; without an adapter it returns
// y.
func (f *formula) adapted(y, x *G.Node, weight Param) *G.Node {
	low, ok := f.b.params.adapters[weight.name]
	if !ok {
		return y
	}
	return f.Of(graph.Add(y, f.Of(f.b.precision.Linear(f.narrowed(x, low), f.node(low.b), nil)))) // (…, out)
}

// narrowed returns scale·dropout(x)·Aᵀ (…, r) of an adapter.
func (f *formula) narrowed(x *G.Node, of adapter) *G.Node {
	h := f.Of(f.b.precision.Linear(f.dropout(x, f.b.params.lora.Dropout), f.node(of.a), nil))
	return f.Of(graph.Scale(h, of.scale))
}

// rows returns the rows (…, E) of a table that ids (…) name, with its adapter added.
func (f *formula) rows(table Param, ids *G.Node) *G.Node {
	y := f.Of(graph.Embedding(f.node(table), ids))
	low, ok := f.b.params.adapters[table.name]
	if !ok {
		return y
	}
	h := f.Of(graph.Scale(f.Of(graph.Embedding(f.node(low.b), ids)), low.scale)) // (…, r)
	return f.Of(graph.Add(y, f.Of(f.b.precision.MatMul(h, f.node(low.a)))))
}

// beside returns vectors (…, in+r) and a matrix (out, in+r) whose product x·Wᵀ equals the result of a linear map with
// its adapter: x concatenated with scale·dropout(x)·Aᵀ, and W with B. It is for a loss that computes the product
// itself. Without an adapter it returns x and W.
func (f *formula) beside(x *G.Node, weight Param) (*G.Node, *G.Node) {
	w := f.node(weight)
	low, ok := f.b.params.adapters[weight.name]
	if !ok || f.b.Err() != nil {
		return x, w
	}
	w = f.Of(graph.Rows(w, 0, w.Shape()[0])) // widened if it is stored in bfloat16
	return f.Of(graph.Concat(x, f.narrowed(x, low))), f.Of(graph.Concat(w, f.node(low.b)))
}
