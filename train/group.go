package train

import (
	"encoding/binary"
	"errors"
	"slices"

	"attention/internal/config"

	"gorgonia.org/tensor"
)

// Group is the processes that train one model together, each with its own Step over parameters of equal values. Package
// train/parallel has a Group for any transport. All processes make the same calls of their Step and its Group, in the
// same order.
type Group interface {
	// Rank returns the number of this process: 0 ≤ Rank < Size.
	Rank() int
	// Size returns the number of processes.
	Size() int
	// Sent returns the bytes that this process has sent.
	Sent() int64
	// Agree returns the same error in all processes: the error of the first rank with one, or nil.
	Agree(err error) error
	// Same returns an error in all processes if a fact differs in one. Facts are a name, its value, the next name and
	// so on.
	Same(facts ...string) error
	// Gather returns the bytes of each process, by rank, until the next call; all know their numbers.
	Gather(mine []byte, sizes []int) ([][]byte, error)
	// Share splits the n batches of a step and the parameters among the processes. ends are the ends of the blocks,
	// counted through all parameters; no block is split.
	Share(params []Param, ends []int, n int) Reducer
}

// Reducer shares the work of a Step among the processes of a Group.
type Reducer interface {
	// Batches returns bounds of a process's batches of a step. Those between two bounds are summed by themselves.
	Batches(rank int) (bounds []int)
	// Own returns the elements of each parameter that this process updates: whole blocks.
	Own() []Span
	// Reduce adds the sums of all processes. sums has a tensor for each parameter for every two bounds of Batches.
	// Reduce leaves the elements of Own of the whole sum, times scale, in the parameters' Grad.
	Reduce(sums [][]*tensor.Dense, scale float64) error
	// Norm sends every process the squares of each one's blocks.
	Norm(squares []float64) error
	// Gather sends every process the values of each one's elements of Own.
	Gather() error
	// Collect calls lead in rank 0, where each(i, write) calls write with all elements of tensor i piece by piece, as
	// slices of numbers. The other processes send their parts. Collect returns the same error in all.
	Collect(parts []Part, lead func(each func(i int, write func(any) error) error) error) error
}

// groupStep is a Step's group.
type groupStep struct {
	Group
	reducer Reducer
	before  int64 // bytes that were sent before the current step
	sent    int64 // in all steps
	steps   int
}

// validateGroup refuses a group that has more processes than a step has batches.
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

// groupGradients is gradients in a group: this process runs its share of the batches, and the elements of Reducer.Own
// of the gradient are in the parameters' Grad. All processes return the error of one.
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

// sumShare runs this process's batches of a step. It draws the batches of other processes too, so that the sources of
// all processes are at the same position.
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

// skip draws the batches from lo to hi−1, which other processes run.
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

// Traffic returns the bytes that this process of a group has sent in a step, the mean of its steps, and the least,
// 2·(N − 1)/N of the gradients: the bound for a sum that all N processes get. Both are 0 for one process, and before
// the first step.
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

// spread gives every process the values that each has updated.
func (g *groupStep) spread() error {
	if err := g.reducer.Gather(); err != nil {
		return err
	}
	g.steps++
	g.sent += g.Sent() - g.before
	return nil
}

// gatherLosses returns the losses of each process, by rank; all know their numbers.
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
