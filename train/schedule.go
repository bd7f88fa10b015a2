package train

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"attention/internal/config"
)

// Schedule gives the learning rate of every step.
type Schedule interface {
	// At returns the learning rate of the step that follows n steps, as torch's schedulers do after n calls of step:
	// At(0) is the first step's. A negative n counts as 0.
	At(n int) float64
	// Validate returns an error that names the first wrong field.
	Validate() error
}

// constant is one learning rate for all steps.
type constant struct {
	Rate float64 `json:"rate"` // 0 trains nothing
}

// At returns Rate.
func (c constant) At(int) float64 { return c.Rate }

// Validate refuses a rate that is negative, infinite or NaN.
func (c constant) Validate() error { return config.AtLeast(c, 0, "Rate") }

// CosineLR warms up linearly, follows half a cosine down to a floor and stays there: the schedule of nanoGPT. This
// example rises to 1e-3 in 100 steps, falls to 1e-4 until step 2000, and is used in a StepConfig:
//
//	train.ScheduleConfig{Schedule: train.CosineLR{Peak: 1e-3, Floor: 1e-4, WarmupSteps: 100, Steps: 2000}}
type CosineLR struct {
	Peak        float64 `json:"peak"`         // rate at the end of the warm-up
	Floor       float64 `json:"floor"`        // rate from step Steps on; at most Peak
	WarmupSteps int     `json:"warmup_steps"` // steps of the warm-up; 0 starts at Peak
	Steps       int     `json:"steps"`        // steps of warm-up and descent together; more than WarmupSteps
}

// At returns
//
//	Peak·(step + 1)/(WarmupSteps + 1)                    step < WarmupSteps
//	Floor + ½·(1 + cos(π·r))·(Peak − Floor)              step < Steps
//	Floor                                                otherwise
//
// with r = (step − WarmupSteps)/(Steps − WarmupSteps).
func (c CosineLR) At(step int) float64 {
	step = max(step, 0)
	switch {
	case step < c.WarmupSteps:
		return warm(c.Peak, step, c.WarmupSteps)
	case step >= c.Steps:
		return c.Floor
	}
	r := float64(step-c.WarmupSteps) / float64(c.Steps-c.WarmupSteps)
	return c.Floor + float64(0.5*(1+math.Cos(math.Pi*r))*(c.Peak-c.Floor))
}

// Validate refuses rates that are negative, infinite or NaN, a floor above the peak, a negative warm-up and a descent
// of no steps.
func (c CosineLR) Validate() error {
	err := cmp.Or(config.AtLeast(c, 0, "Peak", "Floor", "WarmupSteps"), config.AtLeast(c, 1, "Steps"),
		belowPeak(c, c.Floor, c.Peak))
	if err == nil && c.WarmupSteps >= c.Steps {
		err = config.Errorf(c, "WarmupSteps", "got %d, want less than %s=%d", c.WarmupSteps, config.Field("Steps"), c.Steps)
	}
	return err
}

// WSD warms up linearly, stays at its peak, falls linearly to a floor and stays there: warm-up, stable, decay (Hu et
// al. 2024, MiniCPM). It is torch's SequentialLR of LinearLR, ConstantLR and LinearLR. This example rises to 0.02 in 10
// steps, stays there for 130 steps and falls to 0 in 60 more:
//
//	train.ScheduleConfig{Schedule: train.WSD{Peak: 0.02, WarmupSteps: 10, StableSteps: 130, DecaySteps: 60}}
type WSD struct {
	Peak        float64 `json:"peak"`         // rate between warm-up and decay
	Floor       float64 `json:"floor"`        // rate after the decay; at most Peak
	WarmupSteps int     `json:"warmup_steps"` // steps of the warm-up; 0 starts at Peak
	StableSteps int     `json:"stable_steps"` // steps at the peak; 0 starts the decay after the warm-up
	DecaySteps  int     `json:"decay_steps"`  // at least 1
}

// At returns
//
//	Peak·(step + 1)/(WarmupSteps + 1)    step < WarmupSteps
//	Peak                                 step < WarmupSteps + StableSteps
//	Peak + r·(Floor − Peak)              step < WarmupSteps + StableSteps + DecaySteps
//	Floor                                otherwise
//
// with r = (step − WarmupSteps − StableSteps)/DecaySteps.
func (c WSD) At(step int) float64 {
	step = max(step, 0)
	if step < c.WarmupSteps {
		return warm(c.Peak, step, c.WarmupSteps)
	}
	fallen := max(step-c.WarmupSteps-c.StableSteps, 0)
	if fallen >= c.DecaySteps {
		return c.Floor
	}
	return c.Peak + float64(float64(fallen)/float64(c.DecaySteps)*(c.Floor-c.Peak))
}

// Validate refuses rates that are negative, infinite or NaN, a floor above the peak, negative numbers of steps and a
// decay of none.
func (c WSD) Validate() error {
	return cmp.Or(config.AtLeast(c, 0, "Peak", "Floor", "WarmupSteps", "StableSteps"), config.AtLeast(c, 1, "DecaySteps"),
		belowPeak(c, c.Floor, c.Peak))
}

// warm returns the rate of a step of a linear warm-up.
func warm(peak float64, step, steps int) float64 { return peak * float64(step+1) / float64(steps+1) }

// belowPeak returns an error for a schedule's floor above its peak.
func belowPeak(c any, floor, peak float64) error {
	if floor <= peak {
		return nil
	}
	return config.Errorf(c, "Floor", "got %v, want at most %s=%v", floor, config.Field("Peak"), peak)
}

// ScheduleConfig holds one schedule. Its JSON is that of the schedule with the schedule's name as "type": {"type":
// "constant", "rate": 0.001}. The zero value holds none, and Validate returns an error for it: no learning rate suits
// every model.
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

// Validate returns an error for a nil schedule, and the error of the schedule's own Validate.
func (c ScheduleConfig) Validate() error {
	if c.Schedule == nil {
		return config.Errorf(c, "", "got none, want a constant, a cosine or a WSD schedule")
	}
	return c.Schedule.Validate()
}

// schedules maps the types in JSON to the schedules.
var schedules = map[string]Schedule{"constant": constant{}, "cosine": CosineLR{}, "wsd": WSD{}}

// MarshalJSON writes the schedule's fields and its type.
func (c ScheduleConfig) MarshalJSON() ([]byte, error) {
	if c.Schedule == nil {
		return []byte("{}"), nil
	}
	of := reflect.Indirect(reflect.ValueOf(c.Schedule)).Type()
	for name, s := range schedules {
		if reflect.TypeOf(s) != of {
			continue
		}
		fields, err := json.Marshal(c.Schedule)
		if err != nil {
			return nil, err
		}
		return append(fmt.Appendf(nil, `{"type":%q,`, name), fields[1:]...), nil
	}
	return nil, fmt.Errorf("got a %T, want a constant rate, a CosineLR or a WSD: others have no JSON", c.Schedule)
}

// UnmarshalJSON sets the schedule from the JSON of MarshalJSON.
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
	s, ok := schedules[head.Type]
	if !ok {
		return config.JSON(config.OneOf(head, "Type", head.Type, slices.Sorted(maps.Keys(schedules))...))
	}
	to := reflect.New(reflect.TypeOf(s))
	if err := config.Decode(text, &head, to.Interface()); err != nil {
		return err
	}
	c.Schedule = to.Elem().Interface().(Schedule)
	return nil
}
