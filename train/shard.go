package train

import (
	"math"

	"attention/internal/kernel"
)

// Each process of a Group makes the gradient, keeps the solver's state and updates the
// parameters of one shard of their elements (ZeRO-1: Rajbhandari et al., arXiv:1910.02054).
// A shard is a run of whole blocks. Gradient norms are summed by blocks too, so that neither
// depends on the number of processes.

// blockSize is the number of elements of a block. With fewer micro-batches than treeBatches a
// block is a whole parameter, for the bits of earlier programs.
const (
	blockSize   = 1 << 16
	treeBatches = 4
)

// block is some elements of one parameter.
type block struct {
	param int
	span  // of the parameter's elements
}

// blocksOf returns the blocks of parameters, in order, for steps of n micro-batches.
func blocksOf(params []Param, n int) (all []block) {
	for i, p := range params {
		count := wholeOf(p.Value).len()
		size := count
		if n >= treeBatches {
			size = blockSize
		}
		for lo := 0; lo < count; lo += size {
			all = append(all, block{i, span{lo, min(lo+size, count)}})
		}
	}
	return all
}

// sharing is how a step's work is shared out among the processes of a group.
type sharing struct {
	team   *team
	n      int // micro-batches of a step
	params []Param
	starts []int     // of the parameters among the elements of all, and their end
	nodes  [][]span  // the nodes of the tree that each process sums
	blocks [][]block // of each process, in order
	shards []span    // of each process: elements of all parameters one after the other

	halving bool // whether partners add the sums of all processes
}

func newSharing(t *team, params []Param, n int) *sharing {
	s := &sharing{team: t, n: n, params: params, starts: []int{0}}
	total := 0
	for _, p := range params {
		total += wholeOf(p.Value).len()
		s.starts = append(s.starts, total)
	}
	blocks, at := blocksOf(params, n), 0
	for rank := range t.Size() {
		s.nodes = append(s.nodes, span{0, n}.nodesIn(shareOf(rank, t.Size(), n)))
		// Up to the bound between two blocks that is nearest to equal shards.
		want, count, shard := total/t.Size()*(rank+1), 0, span{at, at}
		for count < len(blocks) && (rank == t.Size()-1 || shard.hi+blocks[count].len()/2 < want) {
			shard.hi += blocks[count].len()
			count++
		}
		s.blocks, s.shards = append(s.blocks, blocks[:count]), append(s.shards, shard)
		blocks, at = blocks[count:], shard.hi
	}
	s.halving = s.halves(span{0, n}, span{0, t.Size()})
	return s
}

// own returns this process's elements of every parameter.
func (s *sharing) own() []span { return s.ownOf(s.team.Rank()) }

// ownOf returns the elements of every parameter that a process updates.
func (s *sharing) ownOf(rank int) []span {
	own := make([]span, len(s.params))
	s.each(s.shards[rank], func(i int, elements span) { own[i] = elements })
	return own
}

// gradientNorm returns the norm of all gradients as one vector, of which each process has its
// own blocks, and sets norms to those of each parameter's.
func (s *sharing) gradientNorm(norms []float64) (float64, error) {
	own := s.blocks[s.team.Rank()]
	sums := make([]float64, len(own))
	kernel.Parallel(len(own), 1, func(lo, hi int) {
		for i, b := range own[lo:hi] {
			sums[lo+i] = sumSquares(s.params[b.param].Grad, b.span)
		}
	})
	sizes := make([]int, s.team.Size())
	for rank := range sizes {
		sizes[rank] = 8 * len(s.blocks[rank])
	}
	all, err := s.team.gather(asBytes(sums), sizes)
	if err != nil {
		return 0, err
	}
	total := 0.0
	clear(norms)
	for rank, part := range all {
		for i, sum := range fromBytes[float64](part) {
			total += sum
			norms[s.blocks[rank][i].param] += sum
			if math.IsNaN(total) || math.IsInf(total, 0) {
				return math.Sqrt(total), notFiniteNorm(s.params[s.blocks[rank][i].param].Name, math.Sqrt(total))
			}
		}
	}
	for i, sum := range norms {
		norms[i] = math.Sqrt(sum)
	}
	return math.Sqrt(total), nil
}

// clip scales this process's part of gradients of this norm down to limit; 0 means none.
func (s *sharing) clip(norm, limit float64) {
	c := limit / (norm + 1e-6)
	if limit == 0 || c >= 1 {
		return
	}
	for i, own := range s.own() {
		scalePart(s.params[i].Grad, s.params[i].Grad, own, c)
	}
}
