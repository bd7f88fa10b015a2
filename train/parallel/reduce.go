package parallel

import (
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/train"

	"gorgonia.org/tensor"
)

// pieceBytes is the memory of the numbers that one round of reduce and Gather transfers.
const pieceBytes = 16 << 20

// messageSize is the number of elements of a message if each process gets one from every other process.
const messageSize = 1 << 16

// piece returns the k-th piece of a process's shard, as a range of elements of all parameters concatenated; it may be
// empty.
func (s *shards) piece(rank, k int) train.Span {
	shard, n := s.spans[rank], s.numPieces()
	return train.Span{Lo: shard.Lo + k*shard.Len()/n, Hi: shard.Lo + (k+1)*shard.Len()/n}
}

// numPieces returns the number of pieces of every shard. With a message for each process, a piece has messageSize
// elements however many processes there are, because the time of a message does not shrink with its size.
func (s *shards) numPieces() int {
	most := pieceBytes / s.width()
	if !s.halving {
		most = max(most, s.group.Size()*messageSize)
	}
	return (s.starts[len(s.params)] + most - 1) / most
}

// width returns the bytes of an element.
func (s *shards) width() int { return int(s.params[0].Value.Dtype().Size()) }

// each calls visit for the parameters that overlap a range of elements, with the overlap.
func (s *shards) each(elements train.Span, visit func(param int, own train.Span)) {
	for i, end := range s.starts[1:] {
		begin := s.starts[i]
		own := train.Span{Lo: max(elements.Lo, begin) - begin, Hi: min(elements.Hi, end) - begin}
		if own.Lo < own.Hi {
			visit(i, own)
		}
	}
}

// pack copies elements of tensors with the parameters' shapes to memory.
func (s *shards) pack(to []byte, elements train.Span, tensors []*tensor.Dense) {
	s.each(elements, func(i int, own train.Span) { to = to[copy(to, dense.BytesOf(tensors[i], own.Lo, own.Hi)):] })
}

// unpack copies memory to elements of tensors.
func (s *shards) unpack(from []byte, elements train.Span, tensors []*tensor.Dense) {
	s.each(elements,
		func(i int, own train.Span) { from = from[copy(dense.BytesOf(tensors[i], own.Lo, own.Hi), from):] })
}

// Reduce adds the sums of all nodes and stores this process's shard of the total, times scale, in the gradients; own
// are the sums of its own nodes. A process sends (size − 1)/size of the gradients of each of its nodes.
func (s *shards) Reduce(own [][]*tensor.Dense, scale float64) error {
	if s.width() == 4 {
		return reduce[float32](s, own, scale)
	}
	return reduce[float64](s, own, scale)
}

func reduce[F kernel.Float](s *shards, own [][]*tensor.Dense, scale float64) error {
	for k := range s.numPieces() {
		var sum []F
		var err error
		if s.halving {
			sum, err = halve[F](s, own[0], k)
		} else {
			sum, err = collect[F](s, own, k)
		}
		if err != nil {
			return err
		}
		if len(sum) > 0 {
			kernel.Scale(sum, sum, F(scale))
			s.unpack(dense.Bytes(sum), s.piece(s.group.Rank(), k), s.gradients())
		}
	}
	return nil
}

// halves reports whether a node is the sum of one node each of several processes, so that partners can add them in the
// order of the tree, two by two.
func (s *shards) halves(n, ranks node) bool {
	if ranks.len() == 1 {
		own := s.nodes[ranks.lo]
		return len(own) == 1 && own[0] == n
	}
	if ranks.len()%2 > 0 || n.len() == 1 {
		return false
	}
	mid := (ranks.lo + ranks.hi) / 2
	left, right := n.halves()
	return s.halves(left, node{ranks.lo, mid}) && s.halves(right, node{mid, ranks.hi})
}

// halve returns this process's k-th piece of the sum of all processes' gradients. In each of log₂ N rounds two partners
// exchange halves, and each adds the half that it keeps, with the numbers of the lower rank as the left operand.
func halve[F kernel.Float](s *shards, own []*tensor.Dense, k int) ([]F, error) {
	g, n := s.group, s.group.Size()
	begin := make([]int, n+1) // the range of a position's piece
	for i := range n {
		begin[i+1] = begin[i] + s.piece(g.at(i), k).Len()
	}
	room := dense.FromBytes[F](g.room((begin[n] + begin[n/2]) * s.width()))
	sum, theirs := room[:begin[n]], room[begin[n]:]
	for i := range n {
		s.pack(dense.Bytes(sum[begin[i]:]), s.piece(g.at(i), k), own)
	}
	for d := n / 2; d >= 1; d /= 2 {
		partner, theirs := g.at(d), theirs[:begin[d]]
		if err := g.exchange(partner, dense.Bytes(sum[begin[d]:]), partner, dense.Bytes(theirs)); err != nil {
			return nil, err
		}
		if sum = sum[:begin[d]]; len(sum) == 0 {
			continue // the process has no element of this piece, but still exchanges messages
		}
		left, right := sum, theirs
		if partner < g.Rank() {
			left, right = right, left
		}
		kernel.AddRows(sum, left, right)
	}
	return sum, nil
}

// collect returns this process's k-th piece of the sum of all nodes: every process sends it this piece of its own
// nodes.
func collect[F kernel.Float](s *shards, own [][]*tensor.Dense, k int) ([]F, error) {
	size, rank := s.group.Size(), s.group.Rank()
	mine, most, nodes := s.piece(rank, k).Len()*s.width(), 0, 0
	for to := range size {
		most = max(most, s.piece(to, k).Len()*s.width())
	}
	for _, n := range s.nodes {
		nodes += len(n)
	}
	room := s.group.room(nodes*mine + len(own)*most)
	send, room := room[:len(own)*most], room[len(own)*most:]
	sums := map[node][]F{}
	for d := range size {
		to, from := (rank+d)%size, (rank-d+size)%size
		theirs := s.piece(to, k)
		message := send[:len(own)*theirs.Len()*s.width()]
		for i, sum := range own {
			s.pack(message[i*theirs.Len()*s.width():], theirs, sum)
		}
		receive := room[:len(s.nodes[from])*mine]
		room = room[len(receive):]
		if d == 0 {
			copy(receive, message)
		} else if err := s.group.exchange(to, message, from, receive); err != nil {
			return nil, err
		}
		for i, n := range s.nodes[from] {
			sums[n] = dense.FromBytes[F](receive[i*mine:][:mine])
		}
	}
	if mine == 0 {
		return nil, nil
	}
	return sumNodes(node{0, s.n}, sums), nil
}

// sumNodes returns the sum of a node from the sums of the nodes below it. It overwrites some of them.
func sumNodes[F kernel.Float](n node, sums map[node][]F) []F {
	if sum, ok := sums[n]; ok {
		return sum
	}
	l, r := n.halves()
	left, right := sumNodes(l, sums), sumNodes(r, sums)
	kernel.AddRows(left, left, right)
	return left
}

// Gather sends the parameter values of each process's shard to every process.
func (s *shards) Gather() error {
	values := make([]*tensor.Dense, len(s.params))
	for i, p := range s.params {
		values[i] = p.Value
	}
	rank, sizes := s.group.Rank(), make([]int, s.group.Size())
	var own []byte
	for k := range s.numPieces() {
		for i := range sizes {
			sizes[i] = s.piece(i, k).Len() * s.width()
		}
		own = slices.Grow(own[:0], sizes[rank])[:sizes[rank]]
		s.pack(own, s.piece(rank, k), values)
		all, err := s.group.Gather(own, sizes)
		if err != nil {
			return err
		}
		for i, part := range all {
			if i != rank {
				s.unpack(part, s.piece(i, k), values)
			}
		}
	}
	return nil
}

func (s *shards) gradients() []*tensor.Dense {
	grads := make([]*tensor.Dense, len(s.params))
	for i, p := range s.params {
		grads[i] = p.Grad
	}
	return grads
}
