package mask

import (
	"fmt"
	"slices"

	"attention/internal/config"
)

// An Alignment is where the queries stand among the keys, which matters if T and S differ.
type Alignment int

const (
	Square     Alignment = iota // query t has the position of key t, and T = S
	UpperLeft                   // query t has the position of key t (torch's is_causal)
	LowerRight                  // the last query has the last key's position, S ≥ T, as when earlier keys are kept
)

var alignmentNames = []string{"square", "upper_left", "lower_right"}

const wantAlignment = "want one of square, upper_left, lower_right"

func (a Alignment) String() string {
	if a < Square || a > LowerRight {
		return fmt.Sprintf("alignment %d", int(a))
	}
	return alignmentNames[a]
}

// MarshalText writes square, upper_left or lower_right.
func (a Alignment) MarshalText() ([]byte, error) {
	if a < Square || a > LowerRight {
		return nil, fmt.Errorf("got %d, %s", int(a), wantAlignment)
	}
	return []byte(a.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (a *Alignment) UnmarshalText(text []byte) error {
	if err := config.NotNil(a); err != nil {
		return err
	}
	i := slices.Index(alignmentNames, string(text))
	if i < 0 {
		return fmt.Errorf("got %.60q, %s", text, wantAlignment)
	}
	*a = Alignment(i)
	return nil
}

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
	return 0, a.validate()
}

func (a Alignment) validate() error {
	if a < Square || a > LowerRight {
		return fmt.Errorf("got %v, %s", a, wantAlignment)
	}
	return nil
}
