package gradcheck

import (
	"fmt"
	"math"
	"strings"

	"gorgonia.org/tensor"
)

// Report holds the findings of a check.
type Report struct {
	Inputs []Input // one for each node of wrt, in its order
	Config Config  // of the check, with the defaults filled in
}

// Input holds the findings about the gradient of one input.
type Input struct {
	Name     string
	Shape    tensor.Shape
	Compared int        // comparisons made: one for each element, or one in mode OneDirection
	Worst    Comparison // the one with the largest error
	Largest  float64    // the largest |a| or |n|; if it is 0, little was checked
	Unused   bool       // out does not depend on the input: its gradient is zero, nothing was compared
	Failures []string   // the errors found in the gradient; empty if it is right
}

// Comparison is an analytic derivative and its central difference.
type Comparison struct {
	Index             []int // of the element, one number for each axis; nil in mode OneDirection
	Analytic, Numeric float64

	// RelError is |a−n| / (max(|a|, |n|) + AbsTol/RelTol). It is at most RelTol exactly
	// where |a−n| <= AbsTol + RelTol·max(|a|, |n|), and infinite if a or n is not finite.
	RelError float64
}

// OK reports whether every gradient is right.
func (r *Report) OK() bool { return r.Err() == nil }

// Err returns an error of one line that lists the wrong gradients, or nil if there are
// none.
func (r *Report) Err() error {
	var failed []string
	for _, in := range r.Inputs {
		if len(in.Failures) > 0 {
			failed = append(failed, in.String())
		}
	}
	if failed == nil {
		return nil
	}
	return fmt.Errorf("gradcheck: %d of %d gradients are wrong: %s",
		len(failed), len(r.Inputs), strings.Join(failed, "; "))
}

// Worst returns the comparison with the largest error of all inputs and the input's
// name; both are zero if nothing was compared.
func (r *Report) Worst() (name string, worst Comparison) {
	worst.RelError = -1
	for _, in := range r.Inputs {
		if in.Compared > 0 && in.Worst.RelError > worst.RelError {
			name, worst = in.Name, in.Worst
		}
	}
	worst.RelError = max(worst.RelError, 0)
	return name, worst
}

// Largest returns the largest |a| or |n| of all inputs.
func (r *Report) Largest() float64 {
	largest := 0.0
	for _, in := range r.Inputs {
		largest = max(largest, in.Largest)
	}
	return largest
}

// Compared returns the number of comparisons made.
func (r *Report) Compared() int {
	n := 0
	for _, in := range r.Inputs {
		n += in.Compared
	}
	return n
}

// String returns a line for each input.
func (r *Report) String() string {
	lines := make([]string, len(r.Inputs))
	for i, in := range r.Inputs {
		lines[i] = in.String()
	}
	return strings.Join(lines, "\n")
}

// String returns the input's line in the report.
func (in Input) String() string {
	head := fmt.Sprintf("%s %v: ", in.Name, in.Shape)
	switch {
	case len(in.Failures) > 0:
		return head + "FAIL: " + strings.Join(in.Failures, "; ")
	case in.Unused:
		return head + "ok: does not influence the output, gradient zero"
	}
	return head + fmt.Sprintf("ok: %d compared, worst %v", in.Compared, in.Worst)
}

// String returns the place, both derivatives and their relative error.
func (c Comparison) String() string {
	at := "along a random direction"
	if c.Index != nil {
		at = fmt.Sprintf("at %v", c.Index)
	}
	return fmt.Sprintf("%s: analytic %.10g, numeric %.10g, relative error %.2g", at, c.Analytic, c.Numeric, c.RelError)
}

// judge compares analytic with numeric derivatives, of every element or of one direction.
func (in *Input) judge(c Config, analytic, numeric []float64, absTol float64) {
	bad := 0
	in.Compared = len(analytic)
	for i, a := range analytic {
		e := relativeError(a, numeric[i], absTol, c.RelTol)
		if !(e <= c.RelTol) {
			bad++
		}
		in.Largest = max(in.Largest, math.Abs(a), math.Abs(numeric[i]))
		if i == 0 || e > in.Worst.RelError {
			in.Worst = Comparison{Analytic: a, Numeric: numeric[i], RelError: e}
			if c.Mode == EveryElement {
				in.Worst.Index = multiIndex(i, in.Shape)
			}
		}
	}
	switch {
	case bad > 0 && c.Mode == EveryElement:
		in.fail("%d of %d elements differ by more than %.2g, worst %v", bad, len(analytic), c.RelTol, in.Worst)
	case bad > 0:
		in.fail("differs by more than %.2g %v", c.RelTol, in.Worst)
	}
}

func (in *Input) fail(format string, args ...any) {
	in.Failures = append(in.Failures, fmt.Sprintf(format, args...))
}
