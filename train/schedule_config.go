package train

import "fmt"

// ScheduleConfig names a schedule and its numbers, so that both can be written
// down in one piece. Exactly one of the fields is set; the zero value is no
// schedule at all and does not validate, for no learning rate suits every model.
type ScheduleConfig struct {
	Constant Constant `json:"constant,omitzero"`
	Cosine   Cosine   `json:"cosine,omitzero"`
}

// New returns the schedule, or the error that Validate returns.
func (c ScheduleConfig) New() (Schedule, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c.chosen(), nil
}

// Validate refuses none, two, and a schedule whose own Validate refuses it.
func (c ScheduleConfig) Validate() error {
	s := c.chosen()
	if s == nil {
		return fmt.Errorf("train: schedule: got %+v, want either a constant or a cosine schedule", c)
	}
	return s.Validate()
}

func (c ScheduleConfig) chosen() Schedule {
	switch {
	case c.Cosine == Cosine{} && c.Constant != Constant{}:
		return c.Constant
	case c.Constant == Constant{} && c.Cosine != Cosine{}:
		return c.Cosine
	}
	return nil
}
