package train

import (
	"encoding/binary"
	"fmt"

	"attention/internal/oneline"
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
	err = l.saved(func() error {
		watched := l.flushWatch() // first, so that a checkpoint is not newer; but it matters more
		return oneline.Join(l.saves.save(l, source), watched)
	})
	if err != nil {
		return err
	}
	l.saving.last = l.Steps()
	return nil
}
