package train

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// recorder records one loop's parameters to a Watch.
type recorder struct {
	*Watch
	params   []*watchedParam
	parts    []momentTensor // of Config.Matrices
	probe    *machine.Machine
	tensors  []probeNode // of Probe.Tensors, by name
	numbers  []probeNode // of Probe.Numbers
	notes    map[string]string
	moments  moments
	recorded int  // steps before the last record; -1 before the first
	begun    bool // the files are open at the last record

	unwritten bool // moments has one that the file lacks
	written   time.Time
	cost      time.Duration // of writing the file
}

// probeNode is a node of a Probe.
type probeNode struct {
	name string
	node *G.Node
}

func newRecorder(l *Loop, w *Watch) (*recorder, error) {
	r := &recorder{Watch: w, recorded: -1}
	trained := map[string]bool{}
	for _, p := range l.step.program.params {
		trained[p.Name] = true
	}
	for name, value := range l.params.All() {
		if len(r.params) < watchedParams {
			r.params = append(r.params, newWatchedParam(name, value, trained[name]))
		}
	}
	for i, p := range l.step.program.params {
		for _, watched := range r.params {
			if watched.name == p.Name {
				watched.gradient = i
			}
		}
	}
	if err := r.makeParts(l.params); err != nil {
		return nil, err
	}
	if w.config.Probe != nil {
		if err := r.makeProbe(l.params); err != nil {
			return nil, fmt.Errorf("probe: %w", err)
		}
	}
	numbers := 0
	for _, t := range r.momentTensors() {
		numbers += t.shape.TotalSize()
	}
	if numbers > momentNumbers {
		return nil, fmt.Errorf("tensors: got %d numbers of a moment, want at most %d", numbers, momentNumbers)
	}
	return r, nil
}

// makeParts finds the parts of Config.Matrices.
func (r *recorder) makeParts(p *layers.Params) error {
	for _, m := range r.config.Matrices {
		value, ok := p.Get(m.Param)
		if !ok || value.Dims() != 2 {
			return fmt.Errorf("matrix %.100q: got no parameter of two axes, want one", m.Param)
		}
		side := func(of, wanted int) int {
			if wanted == 0 {
				wanted = of
			}
			return min(of, wanted, watchedSide)
		}
		shape := tensor.Shape{side(value.Shape()[0], m.Rows), side(value.Shape()[1], m.Columns)}
		r.parts = append(r.parts, momentTensor{name: matrixPrefix + m.Param, shape: shape,
			read: func() []float32 { return upperLeft(value, shape) }})
	}
	return nil
}

// upperLeft copies the first rows and columns of a matrix.
func upperLeft(m *tensor.Dense, shape tensor.Shape) (part []float32) {
	cols := m.Shape()[1]
	for row := range shape[0] {
		part = append(part, float32s(m, row*cols, row*cols+shape[1])...)
	}
	return part
}

// makeProbe builds the probe's graph.
func (r *recorder) makeProbe(p *layers.Params) error {
	b := layers.NewBuild(p, layers.Eval)
	probe, err := r.config.Probe(b)
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return err
	}
	var wanted G.Nodes
	add := func(nodes map[string]*G.Node) (all []probeNode, err error) {
		for _, name := range slices.Sorted(maps.Keys(nodes)) {
			n := nodes[name]
			if n == nil || n.Dtype() != tensor.Float32 && n.Dtype() != tensor.Float64 {
				return nil, fmt.Errorf("%.100q: got nil or a node of other numbers, want one of float32 or float64", name)
			}
			all, wanted = append(all, probeNode{name, n}), append(wanted, n)
		}
		return all, nil
	}
	r.notes = probe.Notes
	if r.tensors, err = add(probe.Tensors); err != nil {
		return err
	}
	if r.numbers, err = add(probe.Numbers); err != nil {
		return err
	}
	count := 0
	for _, n := range r.numbers {
		count += n.node.Shape().TotalSize()
	}
	if count > watchedNumbers {
		return fmt.Errorf("numbers: got %d, want at most %d", count, watchedNumbers)
	}
	if len(wanted) > 0 {
		r.probe, err = machine.New(wanted...)
	}
	return err
}

// momentTensors returns the tensors of every moment.
func (r *recorder) momentTensors() []momentTensor {
	all := slices.Clone(r.parts)
	for _, t := range r.tensors {
		all = append(all, momentTensor{name: probePrefix + t.name, shape: t.node.Shape().Clone(), read: t.values})
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
	if !isContiguous(v) {
		v = v.Materialize().(*tensor.Dense)
	}
	return float32s(v, 0, v.Shape().TotalSize())
}

// record records the loop's parameters as they are.
func (r *recorder) record(l *Loop) error {
	line := WatchRecord{Step: l.Steps()}
	for _, p := range r.params {
		line.Params = append(line.Params, p.move(l.step))
	}
	if r.probe != nil {
		if err := r.probe.RunAll(); err != nil {
			return fmt.Errorf("probe: %w", err)
		}
	}
	for _, n := range r.numbers {
		if line.Numbers == nil {
			line.Numbers = map[string][]Number{}
		}
		for _, v := range n.values() {
			line.Numbers[n.name] = append(line.Numbers[n.name], Number(v))
		}
	}
	if err := r.addLine(line); err != nil {
		return err
	}
	r.moments.add(l.Steps(), r.momentTensors())
	r.moments.thin(l.evaluationIndex)
	r.recorded, r.unwritten = l.Steps(), true
	if r.config.OnRecord != nil {
		r.config.OnRecord(line)
	}
	if time.Since(r.written) < writeShare*r.cost {
		return nil // a kill now costs the moments since the last checkpoint only
	}
	return r.write()
}

// writeShare is the least time between two writings of watch.safetensors within a run, in
// times of one.
const writeShare = 200
