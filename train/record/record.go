package record

import (
	"encoding/json"
	"math"
	"strconv"

	"attention/internal/config"
)

// Record is a line of watch.jsonl: the norms of a run after some number of steps.
type Record struct {
	Step    int                 `json:"step"` // steps taken before it
	Params  []Param             `json:"params"`
	Numbers map[string][]Number `json:"numbers,omitempty"` // of Probe.Numbers
}

// Param holds the Euclidean norms of a parameter.
type Param struct {
	Name            string `json:"name"`
	Norm            Number `json:"norm"`
	Change          Number `json:"change"`            // norm of its change since the last record; 0 in the first one
	ChangeFromStart Number `json:"change_from_start"` // norm of its change since the first record
	Gradient        Number `json:"gradient"`          // norm of the last gradient before clipping; NaN if there is none
}

// Number is a number in a Record, written to JSON with the digits of a float32. NaN and infinities are written as null,
// and null is read as NaN.
type Number float64

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(float32(n))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 32), nil
}

// UnmarshalJSON reads a number.
func (n *Number) UnmarshalJSON(text []byte) error {
	if err := config.NotNil(n); err != nil {
		return err
	}
	v := math.NaN()
	if string(text) != "null" {
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
	}
	*n = Number(v)
	return nil
}
