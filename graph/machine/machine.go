// Package machine runs Gorgonia graphs. Its gorgonia.VM computes only the wanted nodes, plans their memory once and
// reuses it in every run. Gorgonia's own ops run on this module's kernels where there is one for them. ForGraph makes a
// machine for a whole graph, as a replacement for gorgonia.NewTapeMachine. New makes one for some nodes, and an Arena
// lets the machines of several graphs, such as graphs for different lengths, share memory.
//
// Gorgonia's own tape machine computes every node of the graph, wanted or not, and allocates every intermediate in each
// run. The tape machine computes the following wrongly, and this machine does not: sums and means in float32, or along
// some axes of four; the softmax of rows of very different size; a value that a later op overwrites, as Sub does after
// Reshape, so that Tanh, Reshape, Sub, Square train uphill; one of two nodes that by chance have the same hash of 32
// bits, as in one of eight thousand graphs of 1000 nodes; functions of some infinities, zeros and very large numbers,
// which the README beside this file lists.
//
// Gorgonia's ops, and the ops of their gradients, are computed as follows:
//   - By a kernel: Exp, Tanh, Sigmoid, Neg, Square, Inverse, Add, Sub, HadamardProd,
//     HadamardDiv, MaxBetween, Sum and so Mean, Max, SoftMax, LogSoftMax, Mul, BatchedMatMul,
//     OuterProd, Tensordot, Transpose.
//   - By a loop on all cores: Abs, Sign, Ceil, Floor, Cube, Sqrt, InverseSqrt, Log, Lt, Gt,
//     Lte, Gte, Eq, Ne, MinBetween, Sin, Cos, Log2, Log1p, Expm1, Softplus, Pow, Slice, At,
//     Concat, Broadcast, ByIndices, Im2Col and so Conv2d, MaxPool2D, BatchNorm.
//   - By nothing: Reshape, and a Slice of contiguous memory.
//   - By Gorgonia itself: AveragePool2D, GlobalAveragePool2D, GroupNorm, Upsample2D,
//     Sparsemax, DiagFlat, CTCLoss, Dropout, YOLOv3, ops of other types than float32 and
//     float64, and your own.
//
// The ops of the first three groups allocate nothing in a run. BenchmarkOps compares them with Gorgonia's.
//
// Some graphs are wrong as Gorgonia builds them, and no machine can repair them. As of v0.9.18: As of v0.9.18:
//   - Two nodes become one: SoftMax and LogSoftMax of a node; two Dropouts of a node, whatever their probabilities;
//     slices whose bounds differ by 256; inputs of one name and shape; constant tensors that print alike. Use
//     graph.Softmax, graph.Dropout and graph.Split instead; give inputs and constants names.
//   - Log of a SoftMax, or of a product with one, turns the SoftMax node itself into logarithms, for all its readers:
//     BinaryXent of a SoftMax and entropies p⊙log p are wrong. ForGraph refuses those; a product of such a SoftMax with
//     another node, or Read of it, silently gets logarithms. Use graph.Softmax instead.
//   - The gradients of Dropout, InverseSqrt, Log2 and OuterProd are wrong. Use graph.Dropout instead, divide by Sqrt,
//     and multiply a matrix of one column by a matrix of one row.
//   - AveragePool1D computes MaxPool1D; AveragePool2D divides by the width of the image.
//   - MaxPool2D reads four padding numbers as those of the bottom, the top, the right and the left.
//   - A Slice with a step that does not divide an axis after the first is longer than its node: a run returns an error.
package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"attention/internal/mapped"
	"attention/internal/simd"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Machine computes nodes of one graph. A Machine must not be used by several goroutines at once.
type Machine struct {
	nodes     G.Nodes // whose values the caller wants
	steps     []step  // no plan until the next run, if the arena has grown
	wanted    []int   // steps of nodes
	gradients []gradient
	slabs     []*slab
	arena     *Arena
	memory    Memory
	graph     *graphNodes // of ForGraph
	mapped    bool        // an input is in the memory of a mapped file
	ran       bool        // the last run completed
	closed    bool
}

var _ G.VM = (*Machine)(nil)

// Overwriter is an op that can compute into planned memory. Other ops allocate their
// results in each run.
type Overwriter interface {
	G.UsePreallocDoer
	// OverwritesPrealloc reports whether UsePreallocDo overwrites all of its memory and
	// never returns a view of an input.
	OverwritesPrealloc() bool
	// InPlace returns the inputs whose memory the result may overwrite once no other op
	// reads it.
	InPlace() []int
	// View returns the input whose memory contains the result, and the element at which the result begins; the op then
	// need not run. The input is −1 for an op that computes.
	View() (input, from int)
}

// New plans a machine for the wanted nodes of one graph. RunAll binds their values to them: node.Value(), and for a
// gradient also the variable's Grad(). The values are in the machine's memory, which the next run overwrites: copy
// values that must outlive it. Nodes made by gorgonia.Read and gorgonia.Set are not run; pass the node itself, or use
// ForGraph.
func New(wanted ...*G.Node) (*Machine, error) { return new(Arena).New(wanted...) }

// New is the function New for a machine with its values in the arena.
func (a *Arena) New(wanted ...*G.Node) (*Machine, error) {
	if len(wanted) == 0 {
		return nil, fmt.Errorf("machine: wanted: got no node, want at least one")
	}
	for i, n := range wanted {
		if n == nil || n.Graph() == nil || n.Graph() != wanted[0].Graph() {
			return nil, fmt.Errorf("machine: wanted: node %d is nil or of another graph, want nodes of one graph", i)
		}
	}
	return a.planned(wanted)
}

// planned returns a machine for nodes of one graph.
func (a *Arena) planned(wanted G.Nodes) (*Machine, error) {
	if err := simd.Err(); err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	m := &Machine{nodes: wanted, gradients: gradientsOf(wanted), arena: a}
	m.plan()
	a.machines = append(a.machines, m)
	return m, nil
}

// RunAll computes the wanted nodes from the inputs' current values.
func (m *Machine) RunAll() error { return m.Run(context.Background()) }

// Run is RunAll, but stops between two ops when the context is done and returns its
// error.
func (m *Machine) Run(ctx context.Context) error {
	if err := m.open(); err != nil {
		return err
	}
	if ctx == nil {
		return errors.New("machine: context: got nil, want one")
	}
	if m.isStale() {
		m.plan()
	}
	m.ran = false
	if m.graph != nil {
		return m.runGraph(ctx)
	}
	if err := m.runSteps(ctx); err != nil {
		return err
	}
	m.showGradients()
	return nil
}

// runGraph is a run of ForGraph's machine.
func (m *Machine) runGraph(ctx context.Context) error {
	m.graph.before()
	back, err := m.setMode()
	if err != nil {
		return err
	}
	defer back()
	if err := m.runSteps(ctx); err != nil {
		for _, i := range m.wanted {
			bind(m.steps[i].node, nil) // it may be half computed
		}
		m.showGradients() // which are none
		return err
	}
	return m.graph.after(m.gradients)
}

// runSteps computes the wanted nodes and binds their values.
func (m *Machine) runSteps(ctx context.Context) error {
	if m.mapped {
		defer mapped.Catch()()
	}
	if err := m.readInputs(); err != nil {
		return err
	}
	recorded := recording.Load()
	for i := range m.steps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("machine: stopped at op %d of %d: %w", i, len(m.steps), err)
		}
		if m.steps[i].op == nil {
			continue
		}
		var at mark
		if recorded != nil {
			at = markNow()
		}
		if err := m.run(&m.steps[i]); err != nil {
			return err
		}
		if recorded != nil && m.steps[i].computes() {
			recorded.add(m.steps[i].name(), at)
		}
	}
	for _, i := range m.wanted {
		s := &m.steps[i]
		if s.op == nil || s.into != nil && s.node.Value() == s.into { // the last run already did
			continue
		}
		if err := s.bind(); err != nil {
			return fmt.Errorf("machine: binding %v: %w", s.node, err)
		}
	}
	m.ran = true
	return nil
}

// open returns an error for a machine that cannot run.
func (m *Machine) open() error {
	if m.closed {
		return errors.New("machine: the machine is closed")
	}
	return nil
}

// Reset does nothing: every run starts at the first node and keeps no state.
func (m *Machine) Reset() {}

// Close releases the planned memory. A closed machine does not run.
func (m *Machine) Close() error {
	m.steps, m.wanted, m.slabs, m.closed = nil, nil, nil, true
	m.arena.machines = slices.DeleteFunc(m.arena.machines, func(other *Machine) bool { return other == m })
	return nil
}

// Owns reports whether a tensor is in the memory of the machine's arena, which the next run overwrites.
func (m *Machine) Owns(d *tensor.Dense) bool {
	if d == nil || d.Dtype().Type == nil {
		return false
	}
	return slices.ContainsFunc(m.arena.slabs, func(s *slab) bool { return s.holds(d.Uintptr()) })
}

// Memory returns the size of the machine's intermediate values.
func (m *Machine) Memory() Memory { return m.memory }
