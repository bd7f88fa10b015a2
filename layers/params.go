package layers

import (
	"fmt"
	"iter"
	"slices"

	"attention/internal/dense"
	"attention/internal/torchrand"

	"gorgonia.org/tensor"
)

// Params holds a model's parameters by name, in the order they were made. The names are
// PyTorch's, as in a state_dict. NewParams and similar functions make one; the zero value cannot be used.
//
// Several goroutines may read a Params, and run graphs over it, concurrently. While one goroutine changes it, no other
// may use it. Set and Draw change it, and so do layers that are made in its scopes, solvers, and functions that read a
// file into it: Draw advances the stream of random numbers.
type Params struct {
	dt     tensor.Dtype
	random *torchrand.Generator
	names  []string
	shapes map[string]tensor.Shape
	values map[string]*tensor.Dense
	start  start
	frozen map[string]bool

	version int // of what graphs are built over, beside the values

	linear   map[string]linearMap // by the names of weights that may get an adapter
	lora     *LoRAConfig          // resolved; nil without adapters
	adapters map[string]adapter   // by the names of the weights that they add to

	buffers []buffer
}

// start is the initial value of a new parameter.
type start int

const (
	drawn    start = iota // the values of its Init
	blank                 // zeros, and nothing is drawn
	declared              // none: it has a name and a shape only, until Keep gives it a value
)

// NewParams returns an empty set of parameters of type dt, tensor.Float32 or
// tensor.Float64. Their initial values are drawn from PyTorch's random stream for
// the seed (torch.manual_seed), in the order the parameters are made.
func NewParams(dt tensor.Dtype, seed int64) *Params {
	return &Params{dt: dt, random: torchrand.New(uint64(seed)), shapes: map[string]tensor.Shape{},
		values: map[string]*tensor.Dense{}, linear: map[string]linearMap{}}
}

// NewBlankParams is NewParams for parameters whose values will be set: they begin with 0.
// Drawing values takes seconds for a large model.
func NewBlankParams(dt tensor.Dtype) *Params {
	p := NewParams(dt, 0)
	p.start = blank
	return p
}

// Version returns a number that Keep, Widen, Freeze, Unfreeze and AddLoRA change: graphs that were built before do not
// have these changes.
func (p *Params) Version() int { return p.version }

// Dtype returns the element type of every parameter.
func (p *Params) Dtype() tensor.Dtype { return p.dt }

// Draw returns a tensor of the parameters' type, drawn from the stream of their initial
// values, which it advances. It is no parameter itself. It is nil for a shape that no parameter can have.
func (p *Params) Draw(init Init, shape ...int) *tensor.Dense {
	if checkShape(p, "", shape) != nil {
		return nil
	}
	v := tensor.New(tensor.Of(p.dt), tensor.WithShape(shape...))
	init.fill(p.random, v)
	return v
}

// Scope returns the scope of the parameters whose names begin with path and a dot; an
// empty path adds nothing.
func (p *Params) Scope(path string) Scope { return Scope{params: p, path: path} }

// Shapes returns the names and shapes, in the order they were made.
func (p *Params) Shapes() iter.Seq2[string, tensor.Shape] {
	return func(yield func(string, tensor.Shape) bool) {
		for _, name := range p.names {
			if !yield(name, p.shapes[name]) {
				return
			}
		}
	}
}

// All returns the names and values, in the order they were made. After Declare there
// are none.
func (p *Params) All() iter.Seq2[string, *tensor.Dense] {
	return func(yield func(string, *tensor.Dense) bool) {
		for _, name := range p.names {
			if v, ok := p.values[name]; ok && !yield(name, v) {
				return
			}
		}
	}
}

// Get returns the named parameter's value, which every graph shares, and whether there
// is one.
func (p *Params) Get(name string) (*tensor.Dense, bool) {
	v, ok := p.values[name]
	return v, ok
}

// Len returns the number of parameters.
func (p *Params) Len() int { return len(p.names) }

// Count returns the number of elements in all parameters.
func (p *Params) Count() int {
	n := 0
	for _, s := range p.Shapes() {
		n += s.TotalSize()
	}
	return n
}

// Set copies v into the named parameter; every graph sees it. Shape and type must
// be the parameter's own.
func (p *Params) Set(name string, v *tensor.Dense) error {
	have, ok := p.Get(name)
	switch {
	case !ok && p.Len() == 0:
		return fmt.Errorf("layers: parameter %q: unknown; there are none", name)
	case !ok:
		return fmt.Errorf("layers: parameter %q: unknown; there are %v", name, p.names)
	case v == nil:
		return errorf(name, "got nil, want a tensor")
	case !slices.Equal(v.Shape(), have.Shape()):
		return errorf(name, "shape %v, want %v", v.Shape(), have.Shape())
	case v.Dtype() != have.Dtype():
		return errorf(name, "got %s, want %v", dense.TypeName(v.Dtype()), have.Dtype())
	case v.RequiresIterator():
		v = v.Materialize().(*tensor.Dense)
	}
	if v.DataOrder().IsColMajor() {
		return errorf(name, "got a tensor in column-major order, want row-major")
	}
	if err := tensor.Copy(have, v); err != nil {
		return errorf(name, "%w", err)
	}
	return nil
}

// maxElements is the most that one parameter may hold.
const maxElements = dense.MaxElements

// Scope makes parameters under a path. A layer made in a scope has its path.
type Scope struct {
	params *Params
	path   string
}

// Sub returns the scope called name within this one; an empty name is the scope itself.
func (s Scope) Sub(name string) Scope { return Scope{params: s.params, path: s.join(name)} }

// Params returns the set that the scope belongs to.
func (s Scope) Params() *Params { return s.params }

// Param makes a parameter with initial values. The name must be new, and there must be
// at least one axis, each at least 1 long.
func (s Scope) Param(name string, init Init, shape ...int) (Param, error) {
	p, full := s.params, s.join(name)
	if err := checkShape(p, full, shape); err != nil {
		return Param{}, err
	}
	if _, ok := p.shapes[full]; ok {
		return Param{}, fmt.Errorf("layers: parameter %q is there already", full)
	}
	p.names = append(p.names, full)
	p.shapes[full] = slices.Clone(shape)
	if p.start != declared {
		p.values[full] = tensor.New(tensor.Of(p.dt), tensor.WithShape(shape...))
	}
	if p.start == drawn {
		init.fill(p.random, p.values[full])
	}
	return Param{params: p, name: full}, nil
}

// Lookup returns the parameter of the scope that is called name, or the zero Param if there is
// none.
func (s Scope) Lookup(name string) Param {
	full := s.join(name)
	if _, ok := s.params.Get(full); !ok {
		return Param{}
	}
	return Param{params: s.params, name: full}
}

// checkShape refuses a shape that no parameter of the set can have.
func checkShape(p *Params, name string, shape []int) error {
	switch {
	case p == nil || p.random == nil:
		const wrong = "layers: parameter %q: got a scope of no Params, want one made by Params.Scope"
		return fmt.Errorf(wrong, name)
	case !dense.IsFloat(p.dt):
		return fmt.Errorf("layers: parameters: got %v, want float32 or float64", dense.TypeName(p.dt))
	case len(shape) == 0 || slices.Min(shape) < 1:
		return errorf(name, "shape %v, want one axis or more, each at least 1", tensor.Shape(shape))
	case !dense.Fits(shape...):
		return errorf(name, "shape %v, want at most %d elements", tensor.Shape(shape), maxElements)
	}
	return nil
}

func (s Scope) join(name string) string {
	if s.path == "" || name == "" {
		return s.path + name
	}
	return s.path + "." + name
}

// Param names one parameter of a Params. The zero value names none.
type Param struct {
	params *Params
	name   string
}

// Value returns the parameter's tensor, which every graph shares; nil for the zero
// Param.
func (p Param) Value() *tensor.Dense {
	if p.params == nil {
		return nil
	}
	return p.params.values[p.name]
}
