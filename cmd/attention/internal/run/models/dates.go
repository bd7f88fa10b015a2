package models

import (
	"attention/cmd/attention/internal/run/settings"
	"attention/train/tasks/dates"
)

// OpenDates reads the model of a run of attention translate: as it was at the checkpoint after some steps or, for a
// negative number, the newest. It returns the steps that the model has taken.
func (in *Inspection) OpenDates(at int) (m *dates.Model, steps int, err error) {
	if in.Kind != settings.DatesModel {
		return nil, 0, in.ErrKind("one of attention translate")
	}
	identity, err := in.Config.ModelIdentity()
	if err != nil {
		return nil, 0, err
	}
	if m, err = in.Config.NewDates(); err != nil {
		return nil, 0, err
	}
	if at < 0 && !in.unfinished {
		return m, in.Planned, in.ReadModel(m.Params(), identity)
	}
	if at < 0 {
		at = in.newest()
	}
	return m, at, in.ReadCheckpoint(at, m.Params(), identity)
}
