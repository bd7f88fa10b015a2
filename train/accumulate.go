package train

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// batchResult is the loss of a micro-batch, a mean over its tokens.
type batchResult struct {
	loss   float64
	tokens int
}

// gradients runs this process's share of the next n batches of a source and leaves its shard
// of the gradient of the loss in the parameters' Grad. Several batches count as one large one,
// by their tokens nᵢ:
//
//	L = Σ nᵢ·Lᵢ / Σ nᵢ    g = Σ nᵢ·gᵢ / Σ nᵢ
//
// It returns L and Σ nᵢ. Every batch has a dropout key of its own. An error of one process is
// that of all.
func (s *Step) gradients(source Source) (loss float64, tokens int, err error) {
	if s.sharing.n == 1 {
		r, err := s.batchGradients(source, dropoutKey(s.config.Seed, s.taken))
		return r.loss, r.tokens, err
	}
	own, sums, err := s.sumShare(source)
	if err := s.sharing.team.agree(err); err != nil {
		return 0, 0, err
	}
	counts := make([]int, s.sharing.team.Size())
	for rank := range counts {
		counts[rank] = shareOf(rank, len(counts), s.sharing.n).len()
	}
	results, err := s.sharing.team.gatherResults(own, counts)
	if err != nil {
		return 0, 0, err
	}
	for _, r := range slices.Concat(results...) {
		loss += float64(r.loss * float64(r.tokens))
		tokens += r.tokens
	}
	return loss / float64(tokens), tokens, s.sharing.reduce(sums, 1/float64(tokens))
}

// batchGradients leaves the gradient of the next batch's loss in the parameters' Grad.
func (s *Step) batchGradients(source Source, key int64) (batchResult, error) {
	b, err := nextBatch(source)
	if err != nil {
		return batchResult{}, err
	}
	// No context stops it between two ops: a batch that is drawn is used, so that a run
	// that resumes later gives the same bits.
	loss, err := s.program.run(context.Background(), b.Inputs, key)
	if err != nil {
		return batchResult{}, err
	}
	if err := s.program.takeGradients(); err != nil {
		return batchResult{}, err
	}
	return batchResult{loss, b.Tokens}, s.program.afterBatch()
}

// nextBatch returns the next batch of a source that must not end.
func nextBatch(source Source) (Batch, error) {
	b, err := source.Next()
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the source has ended, want another batch: %w", io.ErrUnexpectedEOF)
	}
	if err != nil {
		return Batch{}, fmt.Errorf("batch: %w", err)
	}
	return b, nil
}

// sumShare runs this process's micro-batches and returns the sums of its nodes. It draws the
// others too, so that the sources of all processes stand at the same place.
func (s *Step) sumShare(source Source) (results []batchResult, sums [][]*tensor.Dense, err error) {
	team, n := s.sharing.team, s.sharing.n
	share, nodes := shareOf(team.Rank(), team.Size(), n), s.sharing.nodes[team.Rank()]
	s.used = 0
	if err := s.skip(source, span{0, share.lo}); err != nil {
		return nil, nil, err
	}
	for i, node := range nodes {
		sum, err := s.sumNode(source, node, i < len(nodes)-1, &results)
		if err != nil {
			return nil, nil, err
		}
		sums = append(sums, sum)
	}
	return results, sums, s.skip(source, span{share.hi, n})
}

// skip draws micro-batches of other processes.
func (s *Step) skip(source Source, batches span) error {
	for i := batches.lo; i < batches.hi; i++ {
		if _, err := nextBatch(source); err != nil {
			return s.ofBatch(i, err)
		}
	}
	return nil
}

func (s *Step) ofBatch(i int, err error) error {
	return fmt.Errorf("micro-batch %d of %d: %w", i+1, s.sharing.n, err)
}

// sumNode returns Σ nᵢ·gᵢ over the batches of a node, and appends their losses to results. If
// the sum is not to be kept, it may be the parameters' Grad, which the next batch overwrites.
func (s *Step) sumNode(source Source, node span, keep bool, results *[]batchResult) ([]*tensor.Dense, error) {
	if node.len() == 1 {
		r, sum, err := s.weighted(source, node.lo, keep)
		if err != nil {
			return nil, s.ofBatch(node.lo, err)
		}
		*results = append(*results, r)
		return sum, nil
	}
	l, r := node.halves()
	left, err := s.sumNode(source, l, true, results)
	if err != nil {
		return nil, err
	}
	used := s.used
	right, err := s.sumNode(source, r, false, results)
	if err != nil {
		return nil, err
	}
	for i, sum := range left {
		addTensor(sum, right[i])
	}
	s.used = used
	return left, nil
}

// weighted returns nᵢ·gᵢ of batch i.
func (s *Step) weighted(source Source, i int, keep bool) (r batchResult, sum []*tensor.Dense, err error) {
	key := dropoutKey(s.config.Seed, s.taken*s.sharing.n+i)
	if r, err = s.batchGradients(source, key); err != nil {
		return r, nil, err
	}
	if r.tokens < 1 {
		return r, nil, fmt.Errorf("tokens: got %d, want the number of targets that count, at least 1", r.tokens)
	}
	// Checked now: the graph still holds the batch that a NaN comes from.
	if _, err := gradientNorm(s.program.params); err != nil {
		return r, nil, s.program.withOrigin(err)
	}
	grads := s.sharing.gradients()
	sum = grads
	if keep {
		sum = s.sums[s.used]
		s.used++
	}
	for i, grad := range grads {
		scaleTensor(sum[i], grad, float64(r.tokens))
	}
	return r, sum, nil
}

// makeSums allocates the sums that a process holds at once while it runs its micro-batches.
func (s *Step) makeSums() {
	most, kept := 0, 0
	nodes := s.sharing.nodes[s.sharing.team.Rank()]
	for i, node := range nodes {
		keep := i < len(nodes)-1
		most = max(most, kept+node.buffers(keep))
		kept++
	}
	if s.sharing.n == 1 {
		return
	}
	for range most {
		var sum []*tensor.Dense
		for _, p := range s.program.params {
			sum = append(sum, newLike(p.Value))
		}
		s.sums = append(s.sums, sum)
	}
}

// gatherResults returns the results of each process, by rank; all know their numbers.
func (t *team) gatherResults(own []batchResult, counts []int) ([][]batchResult, error) {
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
	parts, err := t.gather(mine, sizes)
	all := make([][]batchResult, len(parts))
	for rank, part := range parts {
		for ; len(part) > 0; part = part[width:] {
			bits, tokens := binary.LittleEndian.Uint64(part), binary.LittleEndian.Uint64(part[8:])
			all[rank] = append(all[rank], batchResult{math.Float64frombits(bits), int(tokens)})
		}
	}
	return all, err
}

// scaleTensor writes c·x to y, which may be x; both are of one dtype and shape.
func scaleTensor(y, x *tensor.Dense, c float64) { scalePart(y, x, wholeOf(x), c) }

// addTensor adds x to y; both are of one dtype and shape.
func addTensor(y, x *tensor.Dense) {
	if x.Dtype() == tensor.Float32 {
		kernel.AddRows(y.Float32s(), y.Float32s(), x.Float32s())
	} else {
		kernel.AddRows(y.Float64s(), y.Float64s(), x.Float64s())
	}
}
