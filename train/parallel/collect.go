package parallel

import (
	"cmp"
	"encoding/binary"

	"attention/internal/dense"
	"attention/train"
)

// A checkpoint contains the whole state of the solver, but each process has only a part of it. Rank 0 requests the
// other parts piece by piece while it writes them, so that it never holds more than one.

// request names elements of a tensor. A negative tensor ends the requests.
type request struct{ Tensor, Lo, Hi int64 }

const requestBytes = 3 * 8

// Collect calls lead in rank 0, which may request the parts of the other processes: see train.Reducer.
func (s *shards) Collect(parts []train.Part, lead func(each func(i int, write func(any) error) error) error) error {
	g := s.group
	owners, err := s.owners(parts)
	if err != nil {
		return err
	}
	if g.Rank() > 0 {
		err = g.serve(parts)
	} else {
		each := func(i int, write func(any) error) error { return g.eachPiece(parts[i], i, owners[i], write) }
		err = cmp.Or(lead(each), g.endServing())
	}
	return g.Agree(err)
}

// owners returns, for each tensor, the elements that each process has.
func (s *shards) owners(parts []train.Part) ([][]train.Span, error) {
	var mine []byte
	for _, p := range parts {
		n := 0
		if p.Value != nil {
			n = p.Value.Shape().TotalSize()
		}
		mine = binary.LittleEndian.AppendUint64(mine, uint64(p.Lo))
		mine = binary.LittleEndian.AppendUint64(mine, uint64(p.Lo+n))
	}
	all, err := s.group.gatherEqual(mine)
	if err != nil {
		return nil, err
	}
	owners := make([][]train.Span, len(parts))
	for i := range parts {
		for _, theirs := range all {
			bound := func(j int) int { return int(binary.LittleEndian.Uint64(theirs[8*(2*i+j):])) }
			owners[i] = append(owners[i], train.Span{Lo: bound(0), Hi: bound(1)})
		}
	}
	return owners, nil
}

// serve answers the requests of rank 0.
func (g *Group) serve(parts []train.Part) error {
	message := make([]byte, requestBytes)
	for {
		if err := g.exchange(0, nil, 0, message); err != nil {
			return err
		}
		var r request
		if _, err := binary.Decode(message, binary.LittleEndian, &r); err != nil || r.Tensor < 0 {
			return err
		}
		p := parts[r.Tensor]
		if err := g.exchange(0, dense.BytesOf(p.Value, int(r.Lo)-p.Lo, int(r.Hi)-p.Lo), 0, nil); err != nil {
			return err
		}
	}
}

// endServing ends serve in the other processes.
func (g *Group) endServing() error {
	for rank := 1; rank < g.Size(); rank++ {
		if err := g.sendRequest(rank, request{Tensor: -1}); err != nil {
			return err
		}
	}
	return nil
}

func (g *Group) sendRequest(rank int, r request) error {
	message, err := binary.Append(nil, binary.LittleEndian, r)
	if err != nil {
		return err
	}
	return g.exchange(rank, message, rank, nil)
}

// eachPiece calls write with all elements of tensor i, in order, from the processes that have them. If rank 0 has the
// whole tensor, such as the number of steps, it uses its own elements.
func (g *Group) eachPiece(p train.Part, i int, owners []train.Span, write func(any) error) error {
	if whole := p.Shape.TotalSize(); owners[0].Len() == whole {
		return write(dense.Slice(p.Value))
	}
	width := int(p.Dtype.Size())
	for rank, own := range owners {
		for lo := own.Lo; lo < own.Hi; lo += pieceBytes / width {
			hi := min(lo+pieceBytes/width, own.Hi)
			values := g.room((hi - lo) * width)
			if rank == 0 {
				values = dense.BytesOf(p.Value, lo-p.Lo, hi-p.Lo)
			} else if err := g.fetch(rank, request{int64(i), int64(lo), int64(hi)}, values); err != nil {
				return err
			}
			if err := write(dense.ByType(p.Dtype, numbersOf[float32], numbersOf[float64])(values)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fetch receives a piece of another process's part.
func (g *Group) fetch(rank int, r request, values []byte) error {
	if err := g.sendRequest(rank, r); err != nil {
		return err
	}
	return g.exchange(rank, nil, rank, values)
}

// numbersOf returns bytes of memory as floats.
func numbersOf[F float32 | float64](values []byte) any { return dense.FromBytes[F](values) }
