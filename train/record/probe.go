package record

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// makeParts finds the parts of Config.Matrices.
func (o *observer) makeParts(p *layers.Params) error {
	for i, m := range o.config.Matrices {
		same := func(other Matrix) bool { return other.Param == m.Param }
		if slices.ContainsFunc(o.config.Matrices[:i], same) {
			return fmt.Errorf("matrix %.100q: got it twice, want it once", m.Param)
		}
		value, ok := p.Get(m.Param)
		if !ok || value.Dims() != 2 {
			return fmt.Errorf("matrix %.100q: got no parameter of two axes, want one", m.Param)
		}
		side := func(of, wanted int) int {
			if wanted == 0 {
				wanted = of
			}
			return min(of, wanted, mostSide)
		}
		shape := tensor.Shape{side(value.Shape()[0], m.Rows), side(value.Shape()[1], m.Columns)}
		o.parts = append(o.parts, keptTensor{name: matrixPrefix + m.Param, shape: shape,
			read: func() []float32 { return upperLeft(value, shape) }})
	}
	return nil
}

// upperLeft copies the first rows and columns of a matrix.
func upperLeft(m *tensor.Dense, shape tensor.Shape) (part []float32) {
	cols := m.Shape()[1]
	for row := range shape[0] {
		part = append(part, dense.Float32s(m, row*cols, row*cols+shape[1])...)
	}
	return part
}

// makeProbe makes the function that computes the probe's nodes, and finds the recorded tensors.
func (o *observer) makeProbe(p *layers.Params) (err error) {
	var names []string // names of the probe's tensors, which come after its nodes
	o.computed, err = layers.NewFunc(p, func(b *layers.Build, in layers.Inputs) []*G.Node {
		probe, err := o.config.Probe(b, in)
		if err != nil {
			return b.Nodes(nil, err)
		}
		o.probe, names = probe, slices.Sorted(maps.Keys(probe.Tensors))
		wanted := slices.Clone(probe.Nodes)
		for _, name := range names {
			wanted = append(wanted, probe.Tensors[name])
		}
		for _, n := range wanted {
			if n != nil && !dense.IsFloat(n.Dtype()) {
				b.Of(nil, fmt.Errorf("got a node of %v, want one of float32 or float64", n.Dtype()))
			}
		}
		return wanted
	}, layers.FuncConfig{})
	if err != nil {
		return err
	}
	shapes, err := o.computed.Prepare(o.config.Inputs)
	if err != nil {
		return err
	}
	for i, name := range names {
		at := len(o.probe.Nodes) + i
		o.parts = append(o.parts, keptTensor{name: probePrefix + name, shape: shapes[at],
			read: func() []float32 { return dense.Float32s(o.values[at], 0, shapes[at].TotalSize()) }})
	}
	return nil
}

// runProbe computes the probe's nodes and returns its numbers.
func (o *observer) runProbe() (_ map[string][]Number, err error) {
	if o.computed == nil {
		return nil, nil
	}
	o.values, err = o.computed.CallInto(context.Background(), o.values, o.config.Inputs)
	if err != nil || o.probe.Numbers == nil {
		return nil, err
	}
	lists, err := o.probe.Numbers(o.values[:len(o.probe.Nodes)])
	if err != nil {
		return nil, err
	}
	all, count := map[string][]Number{}, 0
	for name, list := range lists {
		count += len(list)
		for _, v := range list {
			all[name] = append(all[name], Number(v))
		}
	}
	if count > mostNumbers {
		return nil, fmt.Errorf("got %d numbers, want at most %d", count, mostNumbers)
	}
	return all, nil
}
