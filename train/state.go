package train

import (
	"encoding/binary"

	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// A checkpoint is whole, but each process has a part of the solver's state. Rank 0 asks for the
// other parts piece by piece while it writes them, so that it never holds more than one.

// pieceRequest asks for elements of a state of a parameter. A negative parameter is the end.
type pieceRequest struct{ Param, State, Lo, Hi int64 }

const requestBytes = 4 * 8

// saved makes rank 0 save, and the other processes serve it. An error is that of all.
func (l *Loop) saved(save func() error) error {
	var err error
	if l.team.Rank() > 0 {
		err = l.serveState()
	} else {
		err = save()
		if failed := l.endServing(); err == nil {
			err = failed
		}
	}
	return l.team.agree(err)
}

// serveState answers the requests of rank 0.
func (l *Loop) serveState() error {
	request := make([]byte, requestBytes)
	for {
		if err := l.team.exchange(0, nil, 0, request); err != nil {
			return err
		}
		var r pieceRequest
		if _, err := binary.Decode(request, binary.LittleEndian, &r); err != nil || r.Param < 0 {
			return err
		}
		at := l.step.solver.slots[r.Param]
		piece := span{int(r.Lo) - at.own.lo, int(r.Hi) - at.own.lo}
		if err := l.team.exchange(0, bytesOfPart(at.state[r.State], piece), 0, nil); err != nil {
			return err
		}
	}
}

// endServing ends serveState in the other processes.
func (l *Loop) endServing() error {
	for rank := 1; rank < l.team.Size(); rank++ {
		if err := l.request(rank, pieceRequest{Param: -1}); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) request(rank int, r pieceRequest) error {
	message, err := binary.Append(nil, binary.LittleEndian, r)
	if err != nil {
		return err
	}
	return l.team.exchange(rank, message, rank, nil)
}

// solverFile returns the solver's state as a checkpoint of rank 0 holds it.
func (l *Loop) solverFile() ([]safetensors.Tensor, error) {
	solver := l.step.solver
	if l.team.Size() == 1 {
		return toFile(solverPrefix, solver.State())
	}
	var all []safetensors.Tensor
	if solver.steps != nil {
		all = append(all, safetensors.Tensor{Name: solverPrefix + stepState, Shape: solver.steps.Shape(),
			Data: solver.steps.Int64s()})
	}
	owners := make([][]span, l.team.Size())
	for rank := range owners {
		owners[rank] = l.step.sharing.ownOf(rank)
	}
	for i, p := range l.step.program.params {
		own := make([]span, len(owners))
		for rank := range own {
			own[rank] = owners[rank][i]
		}
		dtype := safetensors.F64
		if p.Value.Dtype() == tensor.Float32 {
			dtype = safetensors.F32
		}
		for j, name := range solver.names {
			all = append(all, safetensors.Tensor{Name: solverPrefix + name + "." + p.Name, Shape: p.Value.Shape(),
				Data: safetensors.Stream{DType: dtype, Each: func(write func(part any) error) error {
					return l.eachPart(own, i, j, write)
				}}})
		}
	}
	return all, nil
}

// eachPart calls write with the elements of state j of parameter i, of which each process has its own.
func (l *Loop) eachPart(own []span, i, j int, write func(part any) error) error {
	width := l.step.sharing.width()
	for rank, part := range own {
		for lo := part.lo; lo < part.hi; lo += pieceBytes / width {
			piece := span{lo, min(lo+pieceBytes/width, part.hi)}
			values := l.team.room(piece.len() * width)
			if rank == 0 {
				values = bytesOfPart(l.step.solver.slots[i].state[j], span{piece.lo - part.lo, piece.hi - part.lo})
			} else if err := l.fetch(rank,
				pieceRequest{int64(i), int64(j), int64(piece.lo), int64(piece.hi)}, values); err != nil {
				return err
			}
			if err := write(numbersOf(values, width)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fetch receives a piece of another process's state.
func (l *Loop) fetch(rank int, r pieceRequest, values []byte) error {
	if err := l.request(rank, r); err != nil {
		return err
	}
	return l.team.exchange(rank, nil, rank, values)
}

// numbersOf returns memory as floats of a width.
func numbersOf(values []byte, width int) any {
	if width == 4 {
		return fromBytes[float32](values)
	}
	return fromBytes[float64](values)
}
