package train

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// ErrNotFinite is wrapped by errors about NaN and infinities: of a step with such a loss or gradient, which does not
// change the parameters, of saving such a parameter, and of reading one from a file.
var ErrNotFinite = machine.ErrNotFinite

// program is a loss's graph, for batches of one shape, with its gradients and the machine that runs it.
type program struct {
	loss       *G.Node // nil if the program computes embeddings alone
	embeddings G.Nodes // of a step in mini-batches
	inputs     map[string]*G.Node
	dropoutKey *G.Node // parameters to train, in the Step's order
	grads      G.Nodes // of the parameters to train, in the Step's order, or of the embeddings
	machine    *machine.Machine
	gradients  gradients
}

// newProgram returns the program of a loss and its gradients, and the parameters of these gradients.
func newProgram(b *layers.Build, loss *G.Node, a *machine.Arena) (*program, []Param, error) {
	if err := checkLoss(b, loss); err != nil {
		return nil, nil, err
	}
	pr := &program{loss: loss, inputs: b.Inputs(), dropoutKey: b.DropoutKey()}
	params, err := pr.differentiate(b)
	if err != nil {
		return nil, nil, err
	}
	pr.machine, err = a.New(append(G.Nodes{loss}, pr.grads...)...)
	return pr, params, err
}

// checkLoss refuses all losses but a scalar of a build without an error.
func checkLoss(b *layers.Build, loss *G.Node) error {
	switch err := b.Err(); {
	case err != nil:
		return err
	case loss == nil:
		return errors.New("loss: got nil, want a node")
	case loss.Graph() != b.Graph():
		return errors.New("loss: got a node of another graph, want one of the build's")
	case !loss.IsScalar() || !dense.IsFloat(loss.Dtype()):
		return fmt.Errorf("loss: got %v %v, want a float32 or float64 scalar", loss.Dtype(), loss.Shape())
	}
	return nil
}

// reached returns the nodes that the loss depends on.
func (pr *program) reached(b *layers.Build) map[*G.Node]bool {
	all := map[*G.Node]bool{}
	for _, n := range b.Graph().ExactSubgraphRoots(pr.loss).AllNodes() {
		all[n] = true
	}
	return all
}

// Grad is then the machine's
func (pr *program) differentiate(b *layers.Build) (params []Param, err error) {
	reached, used := pr.reached(b), map[string]*G.Node{}
	for _, n := range b.Learnables() {
		used[n.Name()] = n
	}
	var nodes G.Nodes
	for name, value := range b.Params().All() {
		if n := used[name]; reached[n] {
			nodes = append(nodes, n)
			params = append(params, Param{Name: name, Value: value}) // Grad is the machine's
		}
	}
	if len(nodes) == 0 {
		return nil, errors.New("loss: depends on no parameter that is not frozen, want at least one")
	}
	if pr.grads, err = G.Grad(pr.loss, nodes...); err != nil {
		return nil, fmt.Errorf("gradient of the loss: %w", err)
	}
	return params, nil
}

// run binds values to the graph's inputs and returns the loss, which is finite. A context does not stop the run between
// two ops: a batch that was drawn is always used, so that a run that resumes later gives the same bits.
func (pr *program) run(v Values, key int64) (float64, error) {
	for name, n := range pr.inputs {
		if err := G.Let(n, v[name]); err != nil {
			return 0, fmt.Errorf("batch: %s: %w", name, err)
		}
	}
	if pr.dropoutKey != nil {
		if err := G.Let(pr.dropoutKey, key); err != nil {
			return 0, fmt.Errorf("dropout key: %w", err)
		}
	}
	if err := pr.machine.RunAll(); err != nil || pr.loss == nil {
		return 0, err
	}
	return finite(pr.machine, dense.Float64s(pr.loss.Value())[0])
}

// finder finds the first op of its last run that produced a NaN or an infinity.
type finder interface{ FindNotFinite() (*G.Node, error) }

// for example if squares of finite gradients overflow
func finite(of finder, loss float64) (float64, error) {
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, withOrigin(of, fmt.Errorf("loss: got %v, which is %w", loss, ErrNotFinite))
	}
	return loss, nil
}

// withOrigin appends the op that first produced a NaN or an infinity.
func withOrigin(of finder, err error) error {
	n, findErr := of.FindNotFinite()
	if findErr != nil || n == nil { // as when squares of finite gradients overflow
		return err
	}
	if n.Op() == nil {
		return fmt.Errorf("%w; it began with %s", err, n.Name())
	}
	return fmt.Errorf("%w; it began with %v", err, n.Op())
}

// check returns an error unless there is a value of the right type and shape for every input, and no other.
func (pr *program) check(values Values) error {
	names := slices.Sorted(maps.Keys(pr.inputs))
	for _, name := range names {
		n, v := pr.inputs[name], values[name]
		if !dense.IsTensor(v) || v.Dtype() != n.Dtype() || !slices.Equal(v.Shape(), n.Shape()) {
			return fmt.Errorf("batch: %s: got %s, want %v %v", name, dense.Form(v), n.Dtype(), n.Shape())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if pr.inputs[name] == nil {
			return fmt.Errorf("batch: %s: is no input of the loss, which has %q", name, names)
		}
	}
	return nil
}

// CheckFinite returns an error that wraps ErrNotFinite and names the first parameter with a NaN or an infinity. Such a
// model computes nothing but NaN.
func CheckFinite(p *layers.Params) error {
	if p == nil {
		return errors.New("train: parameters: got nil, want Params")
	}
	for name, value := range p.Own() {
		if !dense.IsFinite(value) {
			return fmt.Errorf("parameter %s: has values that are %w", name, ErrNotFinite)
		}
	}
	return nil
}

// Memory is the memory that a Step holds, in bytes.
type Memory struct {
	Weights   int // all parameters
	Gradients int // of those that are trained, and their sums if a step takes several batches
	Solver    int // of the solver's state, with a Group of this process's part
	Graphs    int // of the values within the graphs, of the forward and the backward pass, but the gradients
}

// Memory returns the step's present memory.
func (s *Step) Memory() Memory {
	m := Memory{Graphs: s.arena.Bytes()}
	for _, v := range s.all.All() {
		m.Weights += int(v.MemSize())
	}
	for i, p := range s.params {
		m.Gradients += int(p.Value.MemSize())
		if c := s.copies[i]; c != nil {
			m.Graphs += int(c.MemSize())
		}
	}
	m.Graphs = max(0, m.Graphs-m.Gradients) // which are in the graph's memory, or copies
	for _, sum := range append(slices.Clone(s.sums), s.cached.sum) {
		for _, v := range sum {
			m.Gradients += int(v.MemSize())
		}
	}
	for _, p := range s.State() {
		if p.Value != nil {
			m.Solver += int(p.Value.MemSize())
		}
	}
	return m
}
