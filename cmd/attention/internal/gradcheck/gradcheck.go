// Package gradcheck is the command attention gradcheck.
package gradcheck

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"attention/cmd/attention/internal/term"
	"attention/graph/gradcases"
	"attention/graph/gradcheck"
	layercases "attention/layers/gradcases"

	"github.com/spf13/cobra"
	"gorgonia.org/tensor"
)

const help = `Check the gradients of every op and every layer. The command differentiates
small graphs. Their loss L is a randomly weighted sum of their output. For every
element of every input and parameter it compares the symbolic gradient a with
the central difference n = (L(x+h) - L(x-h)) / 2h in float64.

In float64, |a-n| may be 1e-7 + 1e-5 max(|a|, |n|). The worst error is
|a-n| / (max(|a|, |n|) + 0.01), with the limit 1e-5. float32 is too coarse for
differences: its gradient is compared with the differences of the same graph in
float64, |a-n| may be 1e-5 max(1, largest |n|) + 1e-4 max(|a|, |n|), and the
limit of the worst error is 1e-4. The backward pass must also give the same bits
twice, and zeros for a loss of zero. A gradient that is zero everywhere proves
nothing and fails.

A row is an op or a layer with the number of its cases and the worst error of
all; --all prints a row for each case. Failures follow in full. The last line is
the verdict; the exit code is not 0 if any gradient is wrong.`

const example = `  Check everything
    attention gradcheck
  Show every case of softmax
    attention gradcheck --run ^Softmax --all
  Check the cases with causal masks, in float64
    attention gradcheck --run '(?i)causal' --dtype float64
  A quick look: one random direction for each input instead of every element
    attention gradcheck --fast`

// New returns the command.
func New() *cobra.Command { return newCommand(all) }

// check is a case of an op or of a layer.
type check struct {
	group string // heading of its rows: op or layer
	name  string // name of the op or layer and, after a comma, of the case
	run   func(dt tensor.Dtype, c gradcheck.Config) (*gradcheck.Report, error)
}

// all returns the checks of all ops and layers.
func all() []check {
	var checks []check
	for _, c := range gradcases.Cases() {
		checks = append(checks, ofOp(c))
	}
	for _, c := range layercases.Cases() {
		checks = append(checks, check{"layer", c.Name(), c.Check})
	}
	return checks
}

// ofOp returns the check of an op's case.
func ofOp(c gradcases.Case) check { return check{"op", c.Name(), c.Check} }

// newCommand returns the command for the checks that a function makes when the command runs.
func newCommand(checks func() []check) *cobra.Command {
	var names, dtype string
	var seed uint64
	var fast, every bool
	cmd := &cobra.Command{
		Use:     "gradcheck",
		Short:   "Check every gradient against finite differences",
		Long:    help,
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			chosen, err := choose(checks(), names)
			if err != nil {
				return err
			}
			types, err := dtypes(dtype)
			if err != nil {
				return err
			}
			c := gradcheck.Config{Seed: seed}
			if fast {
				c.Mode = gradcheck.OneDirection
			}
			err = run(cmd.Context(), cmd.OutOrStdout(), newTable(c.Mode, types, every), chosen, c)
			return term.Stopped(cmd.Context(), err)
		},
	}
	f := cmd.Flags()
	f.StringVar(&names, "run", "", "check only what has a name that matches this `regexp`")
	f.StringVar(&dtype, "dtype", "both", "`type` of the graphs: float32, float64 or both")
	f.Uint64Var(&seed, "seed", 1, "seed of the values, the weighted sum and the directions")
	f.BoolVar(&every, "all", false, "give each case a row, not each op and layer")
	f.BoolVar(&fast, "fast", false, "compare along one random direction for each input, not every element")
	return cmd
}

// choose returns the checks whose names match a regexp.
func choose(checks []check, names string) ([]check, error) {
	matches, err := regexp.Compile(names)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	chosen := slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return !matches.MatchString(c.name) })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--run: got %q, which matches none of %d names", names, len(checks))
	}
	return chosen, nil
}

// dtypes returns the types that --dtype names.
func dtypes(dtype string) ([]tensor.Dtype, error) {
	switch dtype {
	case "float32":
		return []tensor.Dtype{tensor.Float32}, nil
	case "float64":
		return []tensor.Dtype{tensor.Float64}, nil
	case "both":
		return []tensor.Dtype{tensor.Float64, tensor.Float32}, nil
	}
	return nil, fmt.Errorf("--dtype: got %q, want float32, float64 or both", dtype)
}

// run runs the checks in every type of the table and prints it, then each failure in full.
func run(ctx context.Context, w io.Writer, t *table, checks []check, c gradcheck.Config) error {
	for _, one := range checks {
		for _, dt := range t.types {
			if err := ctx.Err(); err != nil {
				return err
			}
			report, err := one.run(dt, c)
			t.add(one, dt, report, err)
		}
	}
	if err := t.print(w); err != nil {
		return err
	}
	if t.failed != nil {
		return fmt.Errorf("%d of %d failed: %s", len(t.failed), t.checks, strings.Join(t.failed, "; "))
	}
	return nil
}
