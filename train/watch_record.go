package train

import (
	"errors"
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
	probe    Probe
	machine  *machine.Machine // of the probe's nodes; nil without
	tensors  []probeNode      // of the probe, by name
	moments  moments
	recorded int  // steps before the last record; -1 before the first
	begun    bool // the files are open at the last record

	unwritten bool // moments has one that the file lacks
	failed    bool // writing the file has failed
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
	for i, m := range r.config.Matrices {
		same := func(other MatrixPart) bool { return other.Param == m.Param }
		if slices.ContainsFunc(r.config.Matrices[:i], same) {
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
	var err error
	if r.probe, err = r.config.Probe(b); err == nil {
		err = b.Err()
	}
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.probe.Tensors)) {
		r.tensors = append(r.tensors, probeNode{name, r.probe.Tensors[name]})
	}
	wanted := slices.Clone(r.probe.Nodes)
	for _, t := range r.tensors {
		wanted = append(wanted, t.node)
	}
	for _, n := range wanted {
		if n == nil || n.Graph() != b.Graph() || n.Dtype() != tensor.Float32 && n.Dtype() != tensor.Float64 {
			return errors.New("got a node of other numbers, of another graph or nil, want one of floats of the build's")
		}
	}
	if len(wanted) > 0 {
		r.machine, err = machine.New(wanted...)
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
	var err error
	if line.Numbers, err = r.runProbe(); err != nil {
		return fmt.Errorf("probe: %w", err)
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

// runProbe computes the probe's nodes and returns its numbers.
func (r *recorder) runProbe() (map[string][]Number, error) {
	if r.machine == nil {
		return nil, nil
	}
	if err := r.machine.RunAll(); err != nil || r.probe.Numbers == nil {
		return nil, err
	}
	values := make([]*tensor.Dense, len(r.probe.Nodes))
	for i, n := range r.probe.Nodes {
		var ok bool
		if values[i], ok = n.Value().(*tensor.Dense); !ok {
			return nil, fmt.Errorf("%v: got a %T, want a tensor", n, n.Value())
		}
	}
	lists, err := r.probe.Numbers(values)
	all, count := map[string][]Number{}, 0
	for name, list := range lists {
		count += len(list)
		for _, v := range list {
			all[name] = append(all[name], Number(v))
		}
	}
	if err == nil && count > watchedNumbers {
		err = fmt.Errorf("got %d numbers, want at most %d", count, watchedNumbers)
	}
	return all, err
}

// writeShare is the least time between two writings of watch.safetensors within a run, in
// times of one.
const writeShare = 200
