package parallel

import (
	"attention/internal/dense"
	"attention/train"
)

// Each process of a Group makes the gradient, keeps the solver's state and updates the parameters of one shard of their
// elements (ZeRO-1: Rajbhandari et al., arXiv:1910.02054). A shard is a run of whole blocks. Gradient norms are summed
// by blocks, so they do not depend on the number of processes.

// shards says how the processes of a group share the work of a step.
type shards struct {
	group  *Group
	n      int // batches of a step
	params []train.Param
	starts []int        // elements of each parameter within all elements, and the end
	nodes  [][]node     // the tree nodes that each process sums
	blocks []int        // number of blocks of each process
	spans  []train.Span // of each process: elements of all parameters, concatenated

	halving bool // whether partners add the sums of all processes
}

// Share divides the work of steps of n batches: see train.Group.
func (g *Group) Share(params []train.Param, ends []int, n int) train.Reducer {
	s := &shards{group: g, n: n, params: params, starts: []int{0}}
	total := 0
	for _, p := range params {
		total += p.Value.Shape().TotalSize()
		s.starts = append(s.starts, total)
	}
	for rank := range g.Size() {
		s.nodes = append(s.nodes, node{0, n}.nodesIn(shareOf(rank, g.Size(), n)))
	}
	s.shareBlocks(ends, total)
	s.halving = s.halves(node{0, n}, node{0, g.Size()})
	return s
}

// shareBlocks assigns blocks to each process, so that the bounds between shards are as close to equal shards as blocks
// allow.
func (s *shards) shareBlocks(ends []int, total int) {
	size, at := s.group.Size(), 0
	for rank := range size {
		want, count, span := total/size*(rank+1), 0, train.Span{Lo: at, Hi: at}
		for count < len(ends) && (rank == size-1 || span.Hi+(ends[count]-span.Hi)/2 < want) {
			span.Hi = ends[count]
			count++
		}
		s.blocks, s.spans = append(s.blocks, count), append(s.spans, span)
		ends, at = ends[count:], span.Hi
	}
}

// Batches returns the bounds of a process's nodes.
func (s *shards) Batches(rank int) (bounds []int) {
	for _, n := range s.nodes[rank] {
		bounds = append(bounds, n.lo)
	}
	return append(bounds, s.nodes[rank][len(s.nodes[rank])-1].hi)
}

// Own returns the elements of every parameter that this process updates.
func (s *shards) Own() []train.Span { return s.ownOf(s.group.Rank()) }

func (s *shards) ownOf(rank int) []train.Span {
	own := make([]train.Span, len(s.params))
	s.each(s.spans[rank], func(i int, elements train.Span) { own[i] = elements })
	return own
}

// Norm sends the sums of squares of each process's blocks to every process.
func (s *shards) Norm(squares []float64) error {
	sizes, first := make([]int, s.group.Size()), 0
	for rank, count := range s.blocks {
		sizes[rank] = 8 * count
		if rank < s.group.Rank() {
			first += count
		}
	}
	own := squares[first:][:s.blocks[s.group.Rank()]]
	all, err := s.group.Gather(dense.Bytes(own), sizes)
	if err != nil {
		return err
	}
	for _, part := range all {
		squares = squares[copy(squares, dense.FromBytes[float64](part)):]
	}
	return nil
}
