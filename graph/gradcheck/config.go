package gradcheck

import (
	"cmp"
	"fmt"
)

// Config holds the settings of a check. The zero value checks every element at the
// default tolerances.
type Config struct {
	// Step is the size h of a difference, relative to the element:
	// h = Step·max(1, |x|). 0 means 2⁻¹⁷ ≈ 7.6e-6, near the cube root of float64's
	// precision, where the errors of truncation (h²) and of rounding (ε/h) meet at
	// about 1e-10.
	Step float64

	// AbsTol is the error allowed in any element, RelTol the error allowed relative to
	// its size. 0 means 1e-7 and 1e-5: a thousand times the error of central
	// differences, and below the error of any wrong formula.
	//
	// In CheckTwin 0 means 1e-5 and 1e-4, and AbsTol is relative to the largest
	// element of the gradient.
	AbsTol, RelTol float64

	// Mode selects the derivatives to compare.
	Mode Mode

	// Seed seeds the upstream gradient and, in mode OneDirection, the directions. The
	// same seed gives the same report.
	Seed uint64
}

// Mode selects the derivatives to compare.
type Mode int

const (
	// EveryElement compares each element with its own difference: two runs of the graph
	// per element.
	EveryElement Mode = iota
	// OneDirection compares, for each input, the derivative along one random direction:
	// two runs of the graph per input, for large graphs. Every element has a weight
	// between 0.5 and 0.9, so one wrong element is found if its error exceeds the
	// tolerance of the sum. The report cannot name that element.
	OneDirection
)

// String returns the mode in words.
func (m Mode) String() string {
	switch m {
	case EveryElement:
		return "every element"
	case OneDirection:
		return "one direction"
	}
	return fmt.Sprintf("Mode(%d)", int(m))
}

// Bounds of Config.Step. Below minStep, x+h and x−h hardly differ in float64.
const minStep, maxStep = 1e-12, 0.1

// Validate returns an error for the first setting that is out of range.
func (c Config) Validate() error {
	if c.Step != 0 && !(c.Step >= minStep && c.Step <= maxStep) {
		return fmt.Errorf("gradcheck: Step: got %v, want 0 or a number from %v to %v", c.Step, minStep, maxStep)
	}
	if c.AbsTol != 0 && !(c.AbsTol > 0 && c.AbsTol <= 1) {
		return fmt.Errorf("gradcheck: AbsTol: got %v, want 0 or a number above 0, at most 1", c.AbsTol)
	}
	if c.RelTol != 0 && !(c.RelTol > 0 && c.RelTol <= 1) {
		return fmt.Errorf("gradcheck: RelTol: got %v, want 0 or a number above 0, at most 1", c.RelTol)
	}
	if c.Mode != EveryElement && c.Mode != OneDirection {
		return fmt.Errorf("gradcheck: Mode: got %v, want EveryElement or OneDirection", c.Mode)
	}
	return nil
}

// withDefaults returns c with zeros replaced by their defaults.
func (c Config) withDefaults(absTol, relTol float64) Config {
	c.Step, c.AbsTol, c.RelTol = cmp.Or(c.Step, 1.0/(1<<17)), cmp.Or(c.AbsTol, absTol), cmp.Or(c.RelTol, relTol)
	return c
}
