package train

import (
	"encoding/binary"
	"fmt"
	"iter"

	"attention/internal/oneline"

	"gorgonia.org/tensor"
)

// saving is when Run saves: in every process what rank 0 does.
type saving struct {
	on    bool
	every int // steps; 0 means only the last
	last  int // steps of the checkpoint that was last saved or restored; -1 before
}

// begin begins Run in all processes, or in none if one has an error or is not like the others.
func (l *Loop) begin(source Resumable, err error) error {
	if err := l.team.agree(err); err != nil {
		return err
	}
	l.saving = saving{last: -1}
	if l.saves != nil {
		l.saving = saving{true, l.saves.every(), l.saves.newest()}
	}
	if l.team.Size() == 1 {
		return nil
	}
	facts, err := l.facts(source)
	if err := l.team.agree(err); err != nil {
		return err
	}
	if err := l.team.same(facts); err != nil {
		return err
	}
	on := uint64(0)
	if l.saving.on {
		on = 1
	}
	mine := binary.LittleEndian.AppendUint64(nil, on)
	mine = binary.LittleEndian.AppendUint64(mine, uint64(l.saving.every))
	mine = binary.LittleEndian.AppendUint64(mine, uint64(int64(l.saving.last)))
	parts, err := l.team.gatherEqual(mine)
	if err != nil {
		return err
	}
	field := func(i int) int { return int(int64(binary.LittleEndian.Uint64(parts[0][8*i:]))) }
	l.saving = saving{field(0) == 1, field(1), field(2)}
	return nil
}

// saveCheckpoint makes rank 0 save a checkpoint, unless it saves to no folder or has this one
// already.
func (l *Loop) saveCheckpoint(source Resumable) error {
	if !l.saving.on || l.saving.last == l.Steps() {
		return nil
	}
	var err error
	if l.config.BeforeSave != nil && l.team.Rank() == 0 {
		var notes map[string]string
		if notes, err = l.config.BeforeSave(); err != nil {
			err = fmt.Errorf("train: checkpoint after %d steps: %w", l.Steps(), err)
		} else {
			l.notes = notes
		}
	}
	if err := l.team.agree(err); err != nil {
		return err
	}
	if l.team.Rank() == 0 {
		watched := l.flushWatch() // first, so that a checkpoint is not newer; but it matters more
		err = oneline.Join(l.saves.Save(l, source), watched)
	} else {
		_, err = l.gatherState()
	}
	if err := l.team.agree(err); err != nil {
		return err
	}
	l.saving.last = l.Steps()
	return nil
}

// gatherState returns the solver's state, in rank 0 all of it: the others send their parts.
func (l *Loop) gatherState() (iter.Seq2[string, *tensor.Dense], error) {
	solver, team := l.step.solver, l.team
	if team.Size() == 1 {
		return solver.State(), nil
	}
	owners := make([][]span, team.Size())
	for rank := range owners {
		owners[rank] = l.step.sharing.ownOf(rank)
	}
	var names []string
	whole := map[string]*tensor.Dense{}
	if solver.steps != nil {
		names, whole[stepState] = append(names, stepState), solver.steps
	}
	for i, p := range l.step.program.params {
		for j := range solver.names {
			name := solver.names[j] + "." + p.Name
			var all *tensor.Dense
			if team.Rank() == 0 {
				all = tensor.New(tensor.Of(p.Value.Dtype()), tensor.WithShape(p.Value.Shape().Clone()...))
				names, whole[name] = append(names, name), all
			}
			for rank, own := range owners {
				if err := l.sendState(rank, own[i], i, j, all); err != nil {
					return nil, err
				}
			}
		}
	}
	return func(yield func(string, *tensor.Dense) bool) {
		for _, name := range names {
			if !yield(name, whole[name]) {
				return
			}
		}
	}, nil
}

// sendState copies a process's part of state j of parameter i to all of it, in rank 0.
func (l *Loop) sendState(rank int, own span, i, j int, all *tensor.Dense) error {
	if own.len() == 0 {
		return nil
	}
	var mine []byte
	if rank == l.team.Rank() {
		state := l.step.solver.slots[i].state[j]
		mine = bytesOfPart(state, wholeOf(state))
	}
	switch l.team.Rank() {
	case rank:
		if rank == 0 {
			copy(bytesOfPart(all, own), mine)
			return nil
		}
		return l.team.exchange(0, mine, 0, nil)
	case 0:
		return l.team.exchange(rank, nil, rank, bytesOfPart(all, own))
	}
	return nil
}
