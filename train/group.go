package train

import (
	"encoding/binary"
	"errors"
	"slices"

	"attention/internal/config"

	"gorgonia.org/tensor"
)

// Group is a set of processes that train one model together, each with its own Step over parameters of equal values.
// Package train/parallel has a Group for any transport. All processes call the methods of their Step and its Group in
// the same order.
type Group interface {
	// Rank returns the number of this process: 0 ≤ Rank < Size.
	Rank() int
	// Size returns the number of processes.
	Size() int
	// Sent returns the bytes that this process has sent.
	Sent() int64
	// Agree returns the same error in all processes: the error of the lowest rank that has one, or nil.
	Agree(err error) error
	// Same returns an error in all processes if a fact differs in any process. Facts are a name, its value, the next name
	// and so on.
	Same(facts ...string) error
	// Gather returns the bytes of each process, by rank, which stay valid until the next call; all processes know the
	// lengths.
	Gather(mine []byte, sizes []int) ([][]byte, error)
	// Share splits the n batches of a step and the parameters among the processes. ends are the ends of the blocks,
	// counted through all parameters; no block is split.
	Share(params []Param, ends []int, n int) Reducer
}

// Reducer shares the work of a Step among the processes of a Group.
type Reducer interface {
	// Batches returns bounds that divide a process's batches of a step. The batches between two bounds have a sum of their
	// own.
	Batches(rank int) (bounds []int)
	// Own returns the elements of each parameter that this process updates, in whole blocks.
	Own() []Span
	// Reduce adds the sums of all processes. sums has a tensor for each parameter and each two neighbouring bounds of
	// Batches. Reduce stores the elements of Own of the total, times scale, in the parameters' Grad.
	Reduce(sums [][]*tensor.Dense, scale float64) error
	// Norm sends the sums of squares of each process's blocks to every process.
	Norm(squares []float64) error
	// Gather sends the values of each process's elements of Own to every process.
	Gather() error
	// Collect calls lead in rank 0, where each(i, write) calls write with all elements of tensor i piece by piece, as
	// slices of numbers. The other processes send their parts. Collect returns the same error in all processes.
	Collect(parts []Part, lead func(each func(i int, write func(any) error) error) error) error
}

// groupStep is the part of a Step for its group.
type groupStep struct {
	Group
	reducer Reducer
	before  int64 // bytes that were sent before the current step
	sent    int64 // in all steps
	steps   int
}

// validateGroup returns an error for a group with more processes than a step has batches.
func (c StepConfig) validateGroup() error {
	if got := c.batches(); c.Group != nil && got < c.Group.Size() {
		return config.Errorf(c, "Accumulate",
			"got %d for a group of %d processes, which share the batches of a step, want at least %[2]d", got, c.Group.Size())
	}
	return nil
}

func newGroupStep(g Group, params []Param, blocks []block, n int) *groupStep {
	ends, end := make([]int, len(blocks)), 0
	for i, b := range blocks {
		end += b.Len()
		ends[i] = end
	}
	return &groupStep{Group: g, reducer: g.Share(params, ends, n)}
}

// groupGradients is gradients in a group: this process computes its share of the batches, and the elements of
// Reducer.Own of the gradient are then in the parameters' Grad. If one process fails, all return its error.
func (s *Step) groupGradients(source Source) (loss float64, tokens int, err error) {
	s.group.before = s.group.Sent()
	own, sums, err := s.sumShare(source)
	if err := s.group.Agree(err); err != nil {
		return 0, 0, err
	}
	counts := make([]int, s.group.Size())
	for rank := range counts {
		bounds := s.group.reducer.Batches(rank)
		counts[rank] = bounds[len(bounds)-1] - bounds[0]
	}
	losses, err := gatherLosses(s.group, own, counts)
	if err != nil {
		return 0, 0, err
	}
	loss, tokens = meanOf(slices.Concat(losses...))
	return loss, tokens, s.group.reducer.Reduce(sums, 1/float64(tokens))
}

// sumShare runs this process's batches of a step. It also reads the batches of other processes, so that the sources of
// all processes have the same position.
func (s *Step) sumShare(source Source) (losses []batchLoss, sums [][]*tensor.Dense, err error) {
	bounds := s.group.reducer.Batches(s.group.Rank())
	last := len(bounds) - 1
	s.used = 0
	if err := s.skip(source, 0, bounds[0]); err != nil {
		return nil, nil, err
	}
	for i, lo := range bounds[:last] {
		more, sum, err := s.sumBatches(source, lo, bounds[i+1], i < last-1)
		if err != nil {
			return nil, nil, err
		}
		losses, sums = append(losses, more...), append(sums, sum)
	}
	return losses, sums, s.skip(source, bounds[last], s.config.batches())
}

// skip reads the batches from lo to hi−1, which other processes compute.
func (s *Step) skip(source Source, lo, hi int) error {
	for i := lo; i < hi; i++ {
		if _, err := nextBatch(source); err != nil {
			return s.ofBatch(i, err)
		}
	}
	return nil
}

// Collect calls lead with the solver's state. In a group the state is that of all processes, and each process calls
// Collect: rank 0 calls lead, and the other processes send their parts to rank 0.
func (s *Step) Collect(lead func(state []Part) error) error {
	if lead == nil && (s.group == nil || s.group.Rank() == 0) {
		return errors.New("train: state: got nil for the function that gets it, want one")
	}
	parts := s.State()
	if s.group == nil {
		return lead(parts)
	}
	return s.group.reducer.Collect(parts, func(each func(i int, write func(any) error) error) error {
		for i := range parts {
			parts[i].Each = func(write func(any) error) error { return each(i, write) }
		}
		return lead(parts)
	})
}

// Traffic returns the bytes that this process of a group has sent per step, as the mean of its steps, and the lower
// bound of any method that gives all N processes the sum: 2·(N − 1)/N of the gradients. Both are 0 for one process, and
// before the first step.
func (s *Step) Traffic() (sent, least int64) {
	g := s.group
	if g == nil || g.steps == 0 {
		return 0, 0
	}
	size, bytes := int64(g.Size()), int64(0)
	for _, p := range s.params {
		bytes += int64(p.Value.MemSize())
	}
	return g.sent / int64(g.steps), 2 * (size - 1) * bytes / size
}

// spread sends the values that each process has updated to every process.
func (g *groupStep) spread() error {
	if err := g.reducer.Gather(); err != nil {
		return err
	}
	g.steps++
	g.sent += g.Sent() - g.before
	return nil
}

// gatherLosses returns the losses of each process, by rank; all processes know their numbers.
func gatherLosses(g Group, own []batchLoss, counts []int) ([][]batchLoss, error) {
	mine, err := binary.Append(nil, binary.LittleEndian, own)
	if err != nil {
		return nil, err
	}
	sizes, all := make([]int, len(counts)), make([][]batchLoss, len(counts))
	for rank, count := range counts {
		all[rank] = make([]batchLoss, count)
		sizes[rank] = binary.Size(all[rank])
	}
	parts, err := g.Gather(mine, sizes)
	for rank, part := range parts {
		if _, err := binary.Decode(part, binary.LittleEndian, all[rank]); err != nil {
			return nil, err
		}
	}
	return all, err
}
