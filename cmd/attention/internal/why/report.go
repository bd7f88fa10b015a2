package why

import (
	"attention/train/tasks/reversal"
	"attention/train/tasks/tiles"
)

// report is the content of report.json: all numbers of a run.
type report struct {
	Command string      `json:"command"`
	Version string      `json:"version"`
	Seeds   []int64     `json:"seeds"`
	Reverse *taskReport `json:"reverse,omitempty"`
	Picture *taskReport `json:"picture,omitempty"`
}

// taskReport has the settings of a task and its results.
type taskReport struct {
	Steps    int           `json:"steps"`
	Batch    int           `json:"batch"`
	Rate     float64       `json:"learning_rate"`
	Letters  string        `json:"letters,omitempty"`
	Seconds  float64       `json:"seconds"`                // of all trainings together; some ran at the same time
	Strings  int           `json:"test_strings,omitempty"` // for each length and seed
	Lengths  []int         `json:"lengths,omitempty"`
	Pictures int           `json:"test_pictures,omitempty"` // of each seed
	Chance   float64       `json:"chance,omitempty"`        // the share of right answers of a guess
	Models   []modelReport `json:"models"`
}

// modelReport has the results of a model. The first index is the number of the seed.
type modelReport struct {
	Name       string              `json:"name"`
	Parameters int                 `json:"parameters"`
	Loss       []float64           `json:"loss"`             // mean over the last steps, in nats per letter or answer
	Exact      [][]float64         `json:"exact,omitempty"`  // the share of right strings of each length
	Digits     []float64           `json:"digits,omitempty"` // the share of right answers; a digit asks for itself
	Arrows     []float64           `json:"arrows,omitempty"`
	Colours    []float64           `json:"colours,omitempty"`
	Focus      [][]tiles.HeadFocus `json:"focus,omitempty"` // for each head of each block
}

// at returns the share of right strings of a length for each seed.
func (r modelReport) at(length int) []float64 {
	shares := make([]float64, len(r.Exact))
	for i, exact := range r.Exact {
		shares[i] = exact[length-reversal.Shortest]
	}
	return shares
}

// spread returns the mean, the least and the largest of some numbers.
func spread(x []float64) (mean, least, most float64) {
	least, most = x[0], x[0]
	for _, v := range x {
		mean += v / float64(len(x))
		least, most = min(least, v), max(most, v)
	}
	return mean, least, most
}
