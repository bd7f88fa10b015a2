package gradcheck_test

import (
	"testing"

	"attention/graph/gradcheck"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

func TestEveryFlawIsCaught(t *testing.T) {
	for _, c := range []struct {
		flaw flaw
		want string
		only string // also wanted in mode EveryElement
	}{
		{flaw: wrongSign, want: "differ", only: "6 of 6 elements"},
		{flaw: missingFactor, want: "differ", only: "6 of 6 elements"},
		{flaw: oneElement, want: "differ", only: "1 of 6 elements differ by more than 1e-05, worst at [1 1]"},
		{flaw: onesOnly, want: "differ", only: "6 of 6 elements"},
		{flaw: meanOnly, want: "differ", only: "6 of 6 elements"},
		{flaw: drifting, want: "the gradient is not repeatable"},
		{flaw: offset, want: "an upstream gradient of zeros gives 1e-12 at [0 0], want 0"},
		{flaw: notANumber, want: "analytic NaN", only: "6 of 6 elements"},
		{flaw: oneInfinite, want: "Inf", only: "1 of 6 elements"},
		{flaw: swappedAxes, want: "differ", only: "4 of 6 elements"}, // the two corner elements stay in place
		{flaw: wrongShape, want: "the gradient has shape (3, 2), then (3, 2), want (2, 3)"},
		{flaw: tooMany, want: "the gradient has shape (2, 4), then (2, 4), want (2, 3)"},
		{flaw: notDeclared, want: "differ", only: "analytic 0"},
		{flaw: nanForward, want: "numeric NaN"},
	} {
		for _, mode := range modes {
			for seed := range uint64(5) {
				report, err := flawed(t, c.flaw, gradcheck.Config{Mode: mode, Seed: seed})
				require.NoError(t, err, "%s, %v", c.flaw, mode)
				require.False(t, report.OK(), "%s, %v, seed %d: %v", c.flaw, mode, seed, report)
				require.ErrorContains(t, report.Err(), "gradients are wrong: x (2, 3): FAIL: ")
				require.ErrorContains(t, report.Err(), c.want)
				if mode == gradcheck.EveryElement {
					require.ErrorContains(t, report.Err(), c.only)
				}
				if c.flaw != nanForward {
					require.Empty(t, report.Inputs[1].Failures, "w's gradient is right")
				}
			}
		}
	}
}

// The upstream gradient is a single number here, and it must not happen to be 1.
func TestFlawsOfASingleNumberAreCaught(t *testing.T) {
	for _, f := range []flaw{wrongSign, missingFactor, onesOnly, drifting, offset, notANumber} {
		for _, mode := range modes {
			for seed := range uint64(50) {
				x := input64(G.NewGraph(), "x", 1, 1)
				report, err := gradcheck.Check(squareOf(x, f), G.Nodes{x}, gradcheck.Config{Mode: mode, Seed: seed})
				require.NoError(t, err)
				require.False(t, report.OK(), "%s, %v, seed %d: %v", f, mode, seed, report)
			}
		}
	}
}

// Upstream gradients of both signs reach an op whose result is the output itself.
func TestBothSignsReachTheOutput(t *testing.T) {
	for _, mode := range modes {
		for seed := range uint64(5) {
			x := input64(G.NewGraph(), "x", 3, 5)
			report, err := gradcheck.Check(squareOf(x, unsigned), G.Nodes{x}, gradcheck.Config{Mode: mode, Seed: seed})
			require.NoError(t, err)
			require.False(t, report.OK(), "%v, seed %d: %v", mode, seed, report)
		}
	}
}

func TestARightGradientPasses(t *testing.T) {
	for _, mode := range modes {
		for seed := range uint64(20) {
			report, err := flawed(t, none, gradcheck.Config{Mode: mode, Seed: seed})
			require.NoError(t, err)
			require.NoError(t, report.Err())
			_, worst := report.Worst()
			require.Less(t, worst.RelError, 1e-8, "a thousandth of the tolerance: %v", report)
		}
	}
}

func TestWhatCannotBeChecked(t *testing.T) {
	for _, c := range []struct {
		flaw flaw
		want string
	}{
		{flaw: panics, want: "gradcheck: building the gradient: panic: no gradient for you"},
		{flaw: fails, want: "gradcheck: building the gradient: "},
		{flaw: failsLater, want: "gradcheck: running the gradient: machine: no gradient for you"},
		{flaw: panicsLater, want: "panic: no gradient for you"},
		{flaw: noGradient, want: "gradcheck: building the gradient: panic: "},
		{flaw: randomForward, want: "gradcheck: out: got "},
	} {
		for _, mode := range modes {
			report, err := flawed(t, c.flaw, gradcheck.Config{Mode: mode})
			require.ErrorContains(t, err, c.want, c.flaw)
			require.Nil(t, report)
		}
	}
}

// An error passes if |a−n| <= AbsTol + RelTol·max(|a|, |n|). AbsTol is negligible at first.
func TestTolerance(t *testing.T) {
	c := gradcheck.Config{AbsTol: 1e-12}
	report, err := flawed(t, justInside, c)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.InDelta(t, 0.9e-5, report.Inputs[0].Worst.RelError, 1e-8)

	report, err = flawed(t, justOutside, c)
	require.NoError(t, err)
	require.ErrorContains(t, report.Err(), "6 of 6 elements")

	// AbsTol allows an error whatever its relative size.
	report, err = flawed(t, justOutside, gradcheck.Config{AbsTol: 1})
	require.NoError(t, err)
	require.NoError(t, report.Err())
	report, err = flawed(t, justOutside, gradcheck.Config{AbsTol: 1e-12, RelTol: 2e-5})
	require.NoError(t, err)
	require.NoError(t, report.Err())
}

func TestFlawsOfFloat32AreCaught(t *testing.T) {
	twin := func(f flaw, c gradcheck.Config) *gradcheck.Report {
		narrow, wide := G.NewGraph(), G.NewGraph()
		x32, w32 := input32(narrow, "x", 2, 3), input32(narrow, "w", 3, 5)
		x64, w64 := input64(wide, "x", 2, 3), input64(wide, "w", 3, 5)
		report, err := gradcheck.CheckTwin(
			G.Must(G.Mul(squareOf(x32, f), w32)), G.Nodes{x32, w32},
			G.Must(G.Mul(squareOf(x64, none), w64)), G.Nodes{x64, w64}, c)
		require.NoError(t, err)
		return report
	}
	for _, mode := range modes {
		require.NoError(t, twin(none, gradcheck.Config{Mode: mode}).Err())
		for _, f := range []flaw{wrongSign, missingFactor, oneElement, onesOnly, meanOnly, notANumber, oneInfinite,
			swappedAxes, wrongShape, offset} {
			require.ErrorContains(t, twin(f, gradcheck.Config{Mode: mode}).Err(), "1 of 2 gradients are wrong: x (2, 3): FAIL",
				f)
		}
	}
	require.Equal(t, 6+15, twin(none, gradcheck.Config{}).Compared())
}
