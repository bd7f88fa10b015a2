package train

import (
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// pieceBytes limits the memory of the messages of one round of reduce and gatherValues. Of many
// processes a message is as long as a block all the same, since its latency does not shrink.
const pieceBytes = 16 << 20

// piece returns the k-th piece of a process's shard, as elements of all parameters one after
// the other; it may be empty.
func (s *sharing) piece(rank, k int) span {
	shard, most := s.shards[rank], s.pieceLen()
	lo := min(shard.lo+k*most, shard.hi)
	return span{lo, min(lo+most, shard.hi)}
}

// pieceLen returns the largest number of elements of a piece.
func (s *sharing) pieceLen() int {
	return max(pieceBytes/s.width()/s.team.Size(), blockSize)
}

// numPieces returns the number of pieces of the largest shard.
func (s *sharing) numPieces() int {
	longest := 0
	for _, shard := range s.shards {
		longest = max(longest, shard.len())
	}
	return (longest + s.pieceLen() - 1) / s.pieceLen()
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
// of the whole, times scale, in the gradients. Every process sends each other one the piece
// that it adds: (size − 1)/size of the gradients of each of its nodes.
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
		sums, err := collect[F](s, own, k)
		if err != nil {
			return err
		}
		piece := s.piece(s.team.Rank(), k)
		if piece.len() == 0 {
			continue
		}
		sum := sumNodes(span{0, s.n}, sums)
		kernel.Scale(sum, sum, F(scale))
		s.unpack(asBytes(sum), piece, s.gradients())
	}
	return nil
}

// collect returns this process's k-th piece of every node's sum.
func collect[F kernel.Float](s *sharing, own [][]*tensor.Dense, k int) (map[span][]F, error) {
	size, rank := s.team.Size(), s.team.Rank()
	mine, most := s.piece(rank, k).len()*s.width(), s.pieceLen()*s.width()
	nodes := 0
	for _, n := range s.nodes {
		nodes += len(n)
	}
	room := s.team.room((nodes*s.piece(rank, k).len() + len(own)*s.pieceLen()) * s.width())
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
	return sums, nil
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
	own := make([]byte, s.pieceLen()*s.width())
	for k := range s.numPieces() {
		for i := range sizes {
			sizes[i] = s.piece(i, k).len() * s.width()
		}
		s.pack(own[:sizes[rank]], s.piece(rank, k), values)
		all, err := s.team.gather(own[:sizes[rank]], sizes)
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
