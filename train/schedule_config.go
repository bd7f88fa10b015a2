package train

import (
	"encoding/json"
	"fmt"

	"attention/internal/config"
)

// ScheduleConfig holds one schedule. Its JSON is the schedule's own with its name as
// "type", {"type": "constant", "rate": 0.001}. The zero value holds none, which
// Validate refuses: no learning rate suits every model.
type ScheduleConfig struct{ Schedule }

// ConstantRate returns the config of one learning rate for all steps.
func ConstantRate(rate float64) ScheduleConfig { return ScheduleConfig{constant{Rate: rate}} }

// At returns the schedule's learning rate; 0 if there is none.
func (c ScheduleConfig) At(step int) float64 {
	if c.Schedule == nil {
		return 0
	}
	return c.Schedule.At(step)
}

// Validate refuses no schedule and one whose own Validate refuses it.
func (c ScheduleConfig) Validate() error {
	if c.Schedule == nil {
		return config.Errorf(c, "", "got none, want a constant, a cosine or a WSD schedule")
	}
	return c.Schedule.Validate()
}

// Names of the schedules in JSON.
const (
	constantType = "constant"
	cosineType   = "cosine"
	wsdType      = "wsd"
)

// MarshalJSON writes the schedule's fields and its type.
func (c ScheduleConfig) MarshalJSON() ([]byte, error) {
	switch s := c.Schedule.(type) {
	case nil:
		return []byte("{}"), nil
	case constant:
		return json.Marshal(struct {
			Type string `json:"type"`
			constant
		}{constantType, s})
	case *CosineLR:
		return ScheduleConfig{*s}.MarshalJSON()
	case *WSD:
		return ScheduleConfig{*s}.MarshalJSON()
	case CosineLR:
		return json.Marshal(struct {
			Type string `json:"type"`
			CosineLR
		}{cosineType, s})
	case WSD:
		return json.Marshal(struct {
			Type string `json:"type"`
			WSD
		}{wsdType, s})
	}
	return nil, fmt.Errorf("got a %T, want a constant rate, a CosineLR or a WSD: others have no JSON", c.Schedule)
}

// UnmarshalJSON replaces the schedule by the one that MarshalJSON wrote.
func (c *ScheduleConfig) UnmarshalJSON(text []byte) error {
	if err := config.NotNil(c); err != nil {
		return err
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := config.Foreign.Decode(text, &head); err != nil {
		return err
	}
	switch head.Type {
	case constantType:
		return decodeSchedule[constant](c, text)
	case cosineType:
		return decodeSchedule[CosineLR](c, text)
	case wsdType:
		return decodeSchedule[WSD](c, text)
	}
	return config.JSON(config.OneOf(head, "Type", head.Type, constantType, cosineType, wsdType))
}

// decodeSchedule reads a schedule's fields, beside which its type may stand.
func decodeSchedule[S Schedule](c *ScheduleConfig, text []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	var s S
	if err := config.Decode(text, &head, &s); err != nil {
		return err
	}
	c.Schedule = s
	return nil
}
