package train

import (
	"encoding/binary"
	"math"
	"slices"

	"gorgonia.org/tensor"
)

// Group is the processes that train one model together, each with a Loop of its own over
// parameters of equal values: package train/parallel has one for any transport. All of them make
// the same calls of a Loop and of its Group, in the same order.
type Group interface {
	// Rank returns the number of this process: 0 ≤ Rank < Size.
	Rank() int
	// Size returns the number of processes.
	Size() int
	// Sent returns the bytes that this process has sent.
	Sent() int64
	// Agree returns the same error in all processes: the error of the first rank with one, or nil.
	Agree(err error) error
	// Same returns an error in all processes if a fact differs in one. Facts are a name, its
	// value, the next name and so on.
	Same(facts ...string) error
	// Gather returns the bytes of each process, by rank, until the next call; all know their
	// numbers.
	Gather(mine []byte, sizes []int) ([][]byte, error)
	// Share shares out the work of steps of n batches: the batches, and the parameters in blocks
	// that end at these elements of all parameters, one after the other.
	Share(params []Param, ends []int, n int) Reducer
}

// Reducer shares the work of a Step among the processes of a Group.
type Reducer interface {
	// Batches returns bounds of a process's batches of a step. Those between two bounds are
	// summed by themselves.
	Batches(rank int) (bounds []int)
	// Own returns the elements of each parameter that this process updates: whole blocks.
	Own() []Span
	// Reduce adds the sums of all processes. sums has a tensor for each parameter for every two
	// bounds of Batches. Reduce leaves the elements of Own of the whole sum, times scale, in the
	// parameters' Grad.
	Reduce(sums [][]*tensor.Dense, scale float64) error
	// Norm sends every process the squares of each one's blocks.
	Norm(squares []float64) error
	// Gather sends every process the values of each one's elements of Own.
	Gather() error
	// Collect calls lead in rank 0, where each(i, write) calls write with all elements of tensor i
	// piece by piece, as slices of numbers. The other processes send their parts. Collect returns
	// the same error in all.
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

func newGroupStep(g Group, params []Param, blocks []block, n int) *groupStep {
	ends, end := make([]int, len(blocks)), 0
	for i, b := range blocks {
		end += b.Len()
		ends[i] = end
	}
	return &groupStep{Group: g, reducer: g.Share(params, ends, n)}
}

// groupGradients is gradients in a group: this process runs its share of the batches, and the
// elements of Reducer.Own of the gradient are in the parameters' Grad. All processes return the
// error of one.
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

// sumShare runs this process's batches of a step. It draws the batches of other processes too, so that
// the sources of all processes are at the same position.
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
	return losses, sums, s.skip(source, bounds[last], s.batches)
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
	const width = 16
	var mine []byte
	for _, r := range own {
		mine = binary.LittleEndian.AppendUint64(mine, math.Float64bits(r.loss))
		mine = binary.LittleEndian.AppendUint64(mine, uint64(r.tokens))
	}
	sizes := make([]int, len(counts))
	for rank, count := range counts {
		sizes[rank] = width * count
	}
	parts, err := g.Gather(mine, sizes)
	all := make([][]batchLoss, len(parts))
	for rank, part := range parts {
		for ; len(part) > 0; part = part[width:] {
			bits, tokens := binary.LittleEndian.Uint64(part), binary.LittleEndian.Uint64(part[8:])
			all[rank] = append(all[rank], batchLoss{math.Float64frombits(bits), int(tokens)})
		}
	}
	return all, err
}
