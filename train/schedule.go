package train

import (
	"cmp"
	"math"

	"attention/internal/config"
)

// Schedule gives the learning rate of every step.
type Schedule interface {
	// At returns the learning rate of the step that follows n steps, as torch's schedulers
	// do after n calls of step: At(0) is the first step's. A negative n counts as 0.
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

// CosineLR warms up linearly, follows half a cosine down to a floor and stays
// there: the schedule of nanoGPT.
type CosineLR struct {
	Peak        float64 `json:"peak"`         // rate at the end of the warm-up
	Floor       float64 `json:"floor"`        // rate from step Steps on; at most Peak
	WarmupSteps int     `json:"warmup_steps"` // 0 starts at Peak
	Steps       int     `json:"steps"`        // warm-up and descent together; more than WarmupSteps
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
		return c.Peak * float64(step+1) / float64(c.WarmupSteps+1)
	case step >= c.Steps:
		return c.Floor
	}
	r := float64(step-c.WarmupSteps) / float64(c.Steps-c.WarmupSteps)
	return c.Floor + float64(0.5*(1+math.Cos(math.Pi*r))*(c.Peak-c.Floor))
}

// Validate refuses rates that are negative, infinite or NaN, a floor above the
// peak, a negative warm-up and a descent of no steps.
func (c CosineLR) Validate() error {
	if err := cmp.Or(config.AtLeast(c, 0, "Peak", "Floor", "WarmupSteps"), config.AtLeast(c, 1, "Steps")); err != nil {
		return err
	}
	if c.Floor > c.Peak {
		return config.Errorf(c, "Floor", "got %v, want at most %s=%v", c.Floor, config.Field("Peak"), c.Peak)
	}
	if c.WarmupSteps >= c.Steps {
		return config.Errorf(c, "WarmupSteps", "got %d, want less than %s=%d", c.WarmupSteps, config.Field("Steps"), c.Steps)
	}
	return nil
}
