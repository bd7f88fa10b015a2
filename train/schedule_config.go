package train

import (
	"encoding/json"
	"fmt"

	"attention/internal/config"
)

// ScheduleConfig holds one schedule. Its JSON is the schedule's own with its name as
// "type", {"type": "constant", "rate": 0.001}, so that it can be written down. The zero
// value holds none and does not validate, for no learning rate suits every model.
type ScheduleConfig struct{ Schedule }

// ConstantRate returns the config of one learning rate for all steps.
func ConstantRate(rate float64) ScheduleConfig { return ScheduleConfig{Constant{Rate: rate}} }

// Validate refuses no schedule and one whose own Validate refuses it.
func (c ScheduleConfig) Validate() error {
	if c.Schedule == nil {
		return config.Errorf(c, "", "got none, want a constant or a cosine schedule")
	}
	return c.Schedule.Validate()
}

// Names of the schedules in JSON.
const (
	constantType = "constant"
	cosineType   = "cosine"
)

// MarshalJSON writes the schedule's fields and its type.
func (c ScheduleConfig) MarshalJSON() ([]byte, error) {
	switch s := c.Schedule.(type) {
	case nil:
		return []byte("{}"), nil
	case Constant:
		return json.Marshal(struct {
			Type string `json:"type"`
			Constant
		}{constantType, s})
	case Cosine:
		return json.Marshal(struct {
			Type string `json:"type"`
			Cosine
		}{cosineType, s})
	}
	return nil, fmt.Errorf("train: schedule: got a %T, want a Constant or a Cosine: others have no JSON", c.Schedule)
}

// UnmarshalJSON replaces the schedule by the one that MarshalJSON wrote. It also reads
// {"cosine": {…}} and {"constant": {…}}, the form of earlier checkpoints.
func (c *ScheduleConfig) UnmarshalJSON(text []byte) error {
	var form struct {
		Type     string    `json:"type"`
		Constant *Constant `json:"constant"`
		Cosine   *Cosine   `json:"cosine"`
	}
	if err := config.Foreign.Decode(text, &form); err != nil {
		return err
	}
	if form.Type == "" && (form.Constant == nil) != (form.Cosine == nil) {
		if form.Constant != nil {
			c.Schedule = *form.Constant
		} else {
			c.Schedule = *form.Cosine
		}
		return nil
	}
	var head struct {
		Type string `json:"type"`
	}
	switch form.Type {
	case constantType:
		var s Constant
		if err := config.Decode(text, &head, &s); err != nil {
			return err
		}
		c.Schedule = s
	case cosineType:
		var s Cosine
		if err := config.Decode(text, &head, &s); err != nil {
			return err
		}
		c.Schedule = s
	}
	return config.JSON(config.OneOf(form, "Type", form.Type, constantType, cosineType))
}
