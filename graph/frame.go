package graph

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ComputeInto computes into out: a tensor of the op's shape, or a scalar. Unlike
// UsePreallocDo it allocates nothing itself.
func (o op) ComputeInto(out G.Value, in ...G.Value) error { return o.call(o.forward, out, in) }

// AddTo adds the op's result to sum, which has the result's shape. Adds must be true.
func (o op) AddTo(sum G.Value, in ...G.Value) error {
	if !o.Adds() {
		return fmt.Errorf("graph: %v: got a sum to add to, want a result to fill", o)
	}
	return o.call(o.has.addTo, sum, in)
}

// call calls a function of the body with the values as tensors. A panic in a user's mask or score function becomes an
// error.
func (o op) call(do func(out *tensor.Dense, in []*tensor.Dense) error, out G.Value, in []G.Value) (err error) {
	f := frames.Get().(*frame)
	defer f.giveBack()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("graph: %v: %w", o, recovered(r))
		}
	}()
	for i, v := range in {
		d, err := f.tensorOf(v)
		if err != nil {
			return fmt.Errorf("graph: %v: %s: %w", o, o.has.args[o.at[i]].name, err)
		}
		at := len(o.has.args) // of room, which comes last
		if i < len(o.at) {
			at = o.at[i]
		}
		f.skipTo(at)
		f.args = append(f.args, d)
	}
	f.skipTo(len(o.has.args))
	dst, err := f.tensorOf(out)
	if err != nil {
		return fmt.Errorf("graph: %v: result: %w", o, err)
	}
	if err := do(dst, f.args); err != nil {
		return err
	}
	setScalar(out, dst)
	return nil
}

// A frame is the memory that a call of an op needs besides its result. A pool keeps it for the next call.
type frame struct {
	args    []*tensor.Dense
	numbers []*tensor.Dense // of one element
	used    int             // of the numbers, in this call
}

var frames = sync.Pool{New: func() any { return new(frame) }}

func (f *frame) giveBack() {
	clear(f.args)
	f.args, f.used = f.args[:0], 0
	frames.Put(f)
}

// skipTo skips the arguments before argument i.
func (f *frame) skipTo(arg int) {
	for len(f.args) < arg {
		f.args = append(f.args, nil)
	}
}

// tensorOf returns a value as a row-major tensor. That of a scalar is a copy.
func (f *frame) tensorOf(v G.Value) (*tensor.Dense, error) {
	switch v := v.(type) {
	case *G.F32:
		d := f.number(tensor.Float32)
		d.Float32s()[0] = float32(*v)
		return d, nil
	case *G.F64:
		d := f.number(tensor.Float64)
		d.Float64s()[0] = float64(*v)
		return d, nil
	case *G.I64:
		d := f.number(tensor.Int64)
		d.Int64s()[0] = int64(*v)
		return d, nil
	case *G.I:
		d := f.number(tensor.Int)
		d.Ints()[0] = int(*v)
		return d, nil
	}
	return dense.RowMajor(v)
}

// number returns a tensor of one element of a type, which this call does not use for anything else yet.
func (f *frame) number(dt tensor.Dtype) *tensor.Dense {
	at := slices.IndexFunc(f.numbers[f.used:], func(d *tensor.Dense) bool { return d.Dtype() == dt })
	if at < 0 {
		at = len(f.numbers) - f.used
		f.numbers = append(f.numbers, tensor.New(tensor.FromScalar(reflect.Zero(dt.Type).Interface())))
	}
	free := f.numbers[f.used:]
	free[0], free[at] = free[at], free[0]
	f.used++
	return free[0]
}

// setScalar sets a scalar to the element of a tensor.
func setScalar(v G.Value, d *tensor.Dense) {
	switch v := v.(type) {
	case *G.F32:
		*v = G.F32(d.Float32s()[0])
	case *G.F64:
		*v = G.F64(d.Float64s()[0])
	case *G.I:
		*v = G.I(d.Ints()[0])
	}
}
