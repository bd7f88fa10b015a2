package record

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// probeNode is a node of a Probe.
type probeNode struct {
	name string
	node *G.Node
}

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

// makeProbe builds the probe's graph.
func (o *observer) makeProbe(p *layers.Params) error {
	b := layers.NewBuild(p, layers.Eval)
	probe, err := o.config.Probe(b)
	if err != nil {
		return err
	}
	if err := b.Err(); err != nil {
		return err
	}
	o.probe = probe
	for _, name := range slices.Sorted(maps.Keys(o.probe.Tensors)) {
		o.tensors = append(o.tensors, probeNode{name, o.probe.Tensors[name]})
	}
	wanted := slices.Clone(o.probe.Nodes)
	for _, t := range o.tensors {
		wanted = append(wanted, t.node)
	}
	for _, n := range wanted {
		if n == nil || n.Graph() != b.Graph() || !dense.IsFloat(n.Dtype()) {
			return errors.New("got a node of other numbers, of another graph or nil, want one of floats of the build's")
		}
	}
	if len(wanted) > 0 {
		o.machine, err = machine.New(wanted...)
	}
	return err
}

// keptTensors returns the tensors of every record.
func (o *observer) keptTensors() []keptTensor {
	all := slices.Clone(o.parts)
	for _, t := range o.tensors {
		all = append(all, keptTensor{name: probePrefix + t.name, shape: t.node.Shape().Clone(), read: t.values})
	}
	return all
}

// values returns the values of the node.
func (n probeNode) values() []float32 {
	switch v := n.node.Value().Data().(type) {
	case float32:
		return []float32{v}
	case float64:
		return []float32{float32(v)}
	}
	v := n.node.Value().(*tensor.Dense)
	if !dense.IsRowMajor(v) {
		v = v.Materialize().(*tensor.Dense)
	}
	return dense.Float32s(v, 0, v.Shape().TotalSize())
}

// runProbe computes the probe's nodes and returns its numbers.
func (o *observer) runProbe() (map[string][]Number, error) {
	if o.machine == nil {
		return nil, nil
	}
	if err := o.machine.RunAll(); err != nil || o.probe.Numbers == nil {
		return nil, err
	}
	values, err := dense.Tensors(o.probe.Nodes)
	if err != nil {
		return nil, err
	}
	lists, err := o.probe.Numbers(values)
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
