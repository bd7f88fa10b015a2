package train

import (
	"slices"

	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// pieceBytes is the memory of the numbers that are under way in one round of reduce and
// gatherValues.
const pieceBytes = 16 << 20

// piece returns the k-th piece of a process's shard, as elements of all parameters one after
// the other; it may be empty.
func (s *sharing) piece(rank, k int) span {
	shard, n := s.shards[rank], s.numPieces()
	return span{shard.lo + k*shard.len()/n, shard.lo + (k+1)*shard.len()/n}
}

// numPieces returns the number of pieces of every shard. With a message for each process they
// are as long as blocks, however many there are, since the time of a message does not shrink.
func (s *sharing) numPieces() int {
	most := pieceBytes / s.width()
	if !s.halving {
		most = max(most, s.team.Size()*blockSize)
	}
	return (s.starts[len(s.params)] + most - 1) / most
}

// width returns the bytes of an element.
func (s *sharing) width() int { return int(s.params[0].Value.Dtype().Size()) }

// each calls visit for the parameters that have some of these elements, and which.
func (s *sharing) each(elements span, visit func(param int, own span)) {
	for i, end := range s.starts[1:] {
		begin := s.starts[i]
		if own := (span{max(elements.lo, begin) - begin, min(elements.hi, end) - begin}); own.lo < own.hi {
			visit(i, own)
		}
	}
}

// pack copies elements of tensors, which are like the parameters, to memory.
func (s *sharing) pack(to []byte, elements span, tensors []*tensor.Dense) {
	s.each(elements, func(i int, own span) { to = to[copy(to, bytesOfPart(tensors[i], own)):] })
}

// unpack copies memory to elements of tensors.
func (s *sharing) unpack(from []byte, elements span, tensors []*tensor.Dense) {
	s.each(elements, func(i int, own span) { from = from[copy(bytesOfPart(tensors[i], own), from):] })
}

// reduce adds the sums of all nodes, of which this process has its own, and leaves its shard
// of the whole, times scale, in the gradients. A process sends (size − 1)/size of the gradients
// of each of its nodes.
func (s *sharing) reduce(own [][]*tensor.Dense, scale float64) error {
	if s.team.Size() == 1 {
		for i, grad := range s.gradients() {
			scaleTensor(grad, own[0][i], scale)
		}
		return nil
	}
	if s.width() == 4 {
		return reduce[float32](s, own, scale)
	}
	return reduce[float64](s, own, scale)
}

func reduce[F kernel.Float](s *sharing, own [][]*tensor.Dense, scale float64) error {
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
			s.unpack(asBytes(sum), s.piece(s.team.Rank(), k), s.gradients())
		}
	}
	return nil
}

// halves reports whether a node is the sum of those of some processes, one each, which partners
// add in the order of the tree, two by two.
func (s *sharing) halves(node, ranks span) bool {
	if ranks.len() == 1 {
		own := s.nodes[ranks.lo]
		return len(own) == 1 && own[0] == node
	}
	if ranks.len()%2 > 0 || node.len() == 1 {
		return false
	}
	mid := (ranks.lo + ranks.hi) / 2
	left, right := node.halves()
	return s.halves(left, span{ranks.lo, mid}) && s.halves(right, span{mid, ranks.hi})
}

// halve returns this process's k-th piece of the sum of all processes' gradients. In each of its
// log₂ N rounds two partners add what they have, each the half that it goes on with, the process
// of the lower rank on the left.
func halve[F kernel.Float](s *sharing, own []*tensor.Dense, k int) ([]F, error) {
	t, n := s.team, s.team.Size()
	begin := make([]int, n+1) // of the piece of a position
	for i := range n {
		begin[i+1] = begin[i] + s.piece(t.at(i), k).len()
	}
	room := fromBytes[F](t.room((begin[n] + begin[n/2]) * s.width()))
	sum, theirs := room[:begin[n]], room[begin[n]:]
	for i := range n {
		s.pack(asBytes(sum[begin[i]:]), s.piece(t.at(i), k), own)
	}
	for d := n / 2; d >= 1; d /= 2 {
		partner, theirs := t.at(d), theirs[:begin[d]]
		if err := t.exchange(partner, asBytes(sum[begin[d]:]), partner, asBytes(theirs)); err != nil {
			return nil, err
		}
		if sum = sum[:begin[d]]; len(sum) == 0 {
			continue // the process has no element, but messages go on
		}
		left, right := sum, theirs
		if partner < t.Rank() {
			left, right = right, left
		}
		kernel.AddRows(sum, left, right)
	}
	return sum, nil
}

// collect returns this process's k-th piece of the sum of all nodes, of which every process
// sends it the pieces.
func collect[F kernel.Float](s *sharing, own [][]*tensor.Dense, k int) ([]F, error) {
	size, rank := s.team.Size(), s.team.Rank()
	mine, most, nodes := s.piece(rank, k).len()*s.width(), 0, 0
	for to := range size {
		most = max(most, s.piece(to, k).len()*s.width())
	}
	for _, n := range s.nodes {
		nodes += len(n)
	}
	room := s.team.room(nodes*mine + len(own)*most)
	send, room := room[:len(own)*most], room[len(own)*most:]
	sums := map[span][]F{}
	for d := range size {
		to, from := (rank+d)%size, (rank-d+size)%size
		theirs := s.piece(to, k)
		message := send[:len(own)*theirs.len()*s.width()]
		for i, node := range own {
			s.pack(message[i*theirs.len()*s.width():], theirs, node)
		}
		receive := room[:len(s.nodes[from])*mine]
		room = room[len(receive):]
		if d == 0 {
			copy(receive, message)
		} else if err := s.team.exchange(to, message, from, receive); err != nil {
			return nil, err
		}
		for i, node := range s.nodes[from] {
			sums[node] = fromBytes[F](receive[i*mine:][:mine])
		}
	}
	if mine == 0 {
		return nil, nil
	}
	return sumNodes(span{0, s.n}, sums), nil
}

// sumNodes returns the sum of a node from those below it, some of which it overwrites.
func sumNodes[F kernel.Float](node span, sums map[span][]F) []F {
	if sum, ok := sums[node]; ok {
		return sum
	}
	l, r := node.halves()
	left, right := sumNodes(l, sums), sumNodes(r, sums)
	kernel.AddRows(left, left, right)
	return left
}

// gatherValues sends every process the values of the parameters of each one's shard.
func (s *sharing) gatherValues() error {
	if s.team.Size() == 1 {
		return nil
	}
	values := make([]*tensor.Dense, len(s.params))
	for i, p := range s.params {
		values[i] = p.Value
	}
	rank, sizes := s.team.Rank(), make([]int, s.team.Size())
	var own []byte
	for k := range s.numPieces() {
		for i := range sizes {
			sizes[i] = s.piece(i, k).len() * s.width()
		}
		own = slices.Grow(own[:0], sizes[rank])[:sizes[rank]]
		s.pack(own, s.piece(rank, k), values)
		all, err := s.team.gather(own, sizes)
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

func (s *sharing) gradients() []*tensor.Dense {
	grads := make([]*tensor.Dense, len(s.params))
	for i, p := range s.params {
		grads[i] = p.Grad
	}
	return grads
}
