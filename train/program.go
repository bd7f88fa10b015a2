package train

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// program is a loss's graph of one mode, ready to run.
type program struct {
	loss       *G.Node
	inputs     map[string]*G.Node
	dropoutKey *G.Node // nil without dropout
	params     []Param // those to train, which the loss depends on; none in an Eval graph
	frozen     []string
	grads      G.Nodes         // of params
	precision  graph.Precision // of the last layers
	machine    *machine.Machine
	gradients  gradients
}

// newProgram returns the program of a loss, to be compiled.
func newProgram(b *layers.Build, loss *G.Node) (*program, error) {
	if err := b.Err(); err != nil {
		return nil, err
	}
	if err := checkLoss(loss, b); err != nil {
		return nil, fmt.Errorf("loss: %w", err)
	}
	return &program{loss: loss, inputs: b.Inputs(), dropoutKey: b.DropoutKey(),
		precision: b.Precision()}, nil
}

// newTrainingProgram returns the program of a loss and its gradients.
func newTrainingProgram(b *layers.Build, loss *G.Node) (*program, error) {
	p, err := newProgram(b, loss)
	if err != nil {
		return nil, err
	}
	if err := p.differentiate(b); err != nil {
		return nil, err
	}
	return p, p.compile()
}

// compile plans the machine that computes the loss and, in a Train graph, the gradients.
func (pr *program) compile() (err error) {
	pr.machine, err = machine.New(append(G.Nodes{pr.loss}, pr.grads...)...)
	return err
}

// checkLoss refuses a node that is no loss of the build.
func checkLoss(cost *G.Node, b *layers.Build) error {
	switch {
	case cost == nil:
		return fmt.Errorf("got nil, want a node")
	case cost.Graph() != b.Graph():
		return fmt.Errorf("got a node of another graph, want one of the build's")
	case !cost.IsScalar() || !dense.IsFloat(cost.Dtype()):
		return fmt.Errorf("got %v %v, want a float32 or float64 scalar", cost.Dtype(), cost.Shape())
	}
	return nil
}

// differentiate adds the gradient of every parameter that the loss depends on and that is
// not frozen. A parameter may have a node without a path to the loss.
func (pr *program) differentiate(b *layers.Build) error {
	reached := map[*G.Node]bool{}
	for _, n := range b.Graph().ExactSubgraphRoots(pr.loss).AllNodes() {
		reached[n] = true
	}
	used := map[string]*G.Node{}
	for _, n := range b.Learnables() {
		if reached[n] {
			used[n.Name()] = n
		}
	}
	var nodes G.Nodes
	for name, value := range b.Params().All() {
		if b.Params().Frozen(name) {
			pr.frozen = append(pr.frozen, name)
		}
		if n, ok := used[name]; ok {
			nodes = append(nodes, n)
			pr.params = append(pr.params, Param{Name: name, Value: value}) // Grad is the machine's
		}
	}
	if len(nodes) == 0 {
		which := ""
		if len(pr.frozen) > 0 {
			which = " that are not frozen"
		}
		const wrong = "loss: depends on none of the %d parameters%s, want at least one"
		return fmt.Errorf(wrong, b.Params().Len()-len(pr.frozen), which)
	}
	var err error
	if pr.grads, err = G.Grad(pr.loss, nodes...); err != nil {
		return fmt.Errorf("gradient of the loss: %w", err)
	}
	return nil
}

// run binds values to the graph's inputs and returns the loss, which is finite.
func (pr *program) run(ctx context.Context, v Values, key int64) (float64, error) {
	if err := pr.bind(v); err != nil {
		return 0, fmt.Errorf("batch: %w", err)
	}
	if pr.dropoutKey != nil {
		if err := G.Let(pr.dropoutKey, key); err != nil {
			return 0, fmt.Errorf("dropout key: %w", err)
		}
	}
	if err := pr.machine.Run(ctx); err != nil {
		return 0, err
	}
	loss := dense.Float64s(pr.loss.Value())[0]
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, pr.withOrigin(fmt.Errorf("loss: got %v, which is %w", loss, ErrNotFinite))
	}
	return loss, nil
}

// withOrigin appends the first op that produced a NaN or an infinity.
func (pr *program) withOrigin(err error) error {
	n, findErr := pr.machine.FindNotFinite()
	switch {
	case findErr != nil || n == nil: // as when squares of finite gradients overflow
		return err
	case n.Op() == nil:
		return fmt.Errorf("%w; it began with %s", err, n.Name())
	}
	return fmt.Errorf("%w; it began with %v", err, n.Op())
}

// bind binds a value of the right type and shape to every input, or none if one is wrong.
func (pr *program) bind(values Values) error {
	names := slices.Sorted(maps.Keys(pr.inputs))
	for _, name := range names {
		n, v := pr.inputs[name], values[name]
		if v == nil {
			return fmt.Errorf("%s: got none, want %v %v", name, n.Dtype(), n.Shape())
		}
		if v.Dtype() != n.Dtype() || !slices.Equal(v.Shape(), n.Shape()) {
			return fmt.Errorf("%s: got %v %v, want %v %v", name, dense.TypeName(v.Dtype()), v.Shape(),
				n.Dtype(), n.Shape())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if pr.inputs[name] == nil {
			return fmt.Errorf("%s: is no input of the loss, which has %q", name, names)
		}
	}
	for _, name := range names {
		if err := G.Let(pr.inputs[name], values[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
