package mask

import (
	"fmt"

	"attention/internal/config"
)

// An Alignment defines the positions of the queries among the keys. It matters if T and S differ.
type Alignment int

const (
	Square     Alignment = iota // query t has the position of key t, and T = S
	UpperLeft                   // query t has the position of key t (torch's is_causal)
	LowerRight                  // the last query has the last key's position, S ≥ T, as when earlier keys are kept
)

var alignments = config.Enum[Alignment]{Name: "Alignment", Words: []string{"square", "upper_left", "lower_right"}}

// String returns "square", "upper_left" or "lower_right".
func (a Alignment) String() string { return alignments.String(a) }

// MarshalText returns the text of String.
func (a Alignment) MarshalText() ([]byte, error) { return alignments.MarshalText(a) }

// UnmarshalText reads the text of MarshalText.
func (a *Alignment) UnmarshalText(text []byte) error { return alignments.UnmarshalText(a, text) }

// Offset returns the position among S keys of the first of T queries.
func (a Alignment) Offset(T, S int) (int, error) {
	switch {
	case a == UpperLeft, a == Square && T == S:
		return 0, nil
	case a == LowerRight && T <= S:
		return S - T, nil
	case a == Square:
		return 0, fmt.Errorf("got T=%d and S=%d, want T = S or an alignment, upper_left or lower_right", T, S)
	case a == LowerRight:
		return 0, fmt.Errorf("got T=%d and S=%d with lower_right, want S ≥ T", T, S)
	}
	return 0, alignments.Validate(a)
}
