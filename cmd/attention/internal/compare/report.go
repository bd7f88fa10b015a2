package compare

import (
	"math"

	"attention/train/tasks/lookback"
)

// report is the content of report.json: every number of a run.
type report struct {
	Command       string        `json:"command"`
	Version       string        `json:"version"`
	Goal          string        `json:"goal"`
	Steps         int           `json:"steps"`
	Batch         int           `json:"batch"`
	ContextLength int           `json:"context_length"`
	Level         string        `json:"level,omitempty"` // the meaning of the marks' levels
	Seeds         []int64       `json:"seeds"`
	Models        []modelReport `json:"models"`
}

// modelReport has the results of a model. The first index is the number of the seed.
type modelReport struct {
	Attention      string            `json:"attention"`
	DimFeedforward int               `json:"dim_feedforward"`
	Parameters     int               `json:"parameters"`
	Memory         int               `json:"training_bytes"`
	Token          int               `json:"cache_bytes_a_token"`
	Fixed          int               `json:"cache_bytes_fixed"`
	Loss           []float64         `json:"loss"`
	Exact          []float64         `json:"exact,omitempty"` // the share of right answers, the mean of all levels
	Seconds        []float64         `json:"seconds"`
	Speed          []float64         `json:"tokens_per_second"` // of writing
	Marks          [][]lookback.Mark `json:"marks,omitempty"`
	Curve          [][]float64       `json:"training_loss"` // means of groups of steps
}

// add adds the result of a training.
func (r *modelReport) add(o outcome) {
	r.Memory = o.memory
	r.Loss, r.Seconds, r.Speed = append(r.Loss, o.loss), append(r.Seconds, o.seconds), append(r.Speed, o.speed)
	r.Curve = append(r.Curve, o.curve)
	if o.marks == nil {
		return
	}
	exact := 0.0
	for _, m := range o.marks {
		exact += m.Exact / float64(len(o.marks))
	}
	r.Marks, r.Exact = append(r.Marks, o.marks), append(r.Exact, exact)
}

// at returns the shares of right answers at the level of an index, of each seed.
func (r *modelReport) at(level int) (shares []float64) {
	for _, marks := range r.Marks {
		shares = append(shares, marks[level].Exact)
	}
	return shares
}

// spread returns the mean of numbers and their standard deviation, which is 0 for a single number.
func spread(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean) / float64(max(len(x)-1, 1))
	}
	return mean, math.Sqrt(deviation)
}
