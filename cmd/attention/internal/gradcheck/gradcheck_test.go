package gradcheck

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/graph"
	"attention/graph/gradcases"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// The tests of ops and of layers check every element of the same cases.
func TestGradcheckEverything(t *testing.T) {
	checks := all()
	names := map[string]bool{}
	for _, c := range checks {
		name, _, _ := strings.Cut(c.name, ",")
		names[c.group+name] = true
	}
	for _, row := range []struct {
		args []string
		rows int
	}{
		{args: []string{"--fast"}, rows: len(names)},
		{args: []string{"--fast", "--seed", "2", "--all"}, rows: len(checks)},
	} {
		out, err := commandtest.Output(t.Context(), New(), row.args...)
		require.NoError(t, err, out)
		require.Equal(t, row.rows, strings.Count(out, "  ok\n"))
		require.Contains(t, out, fmt.Sprintf("\n%d of %[1]d right, ", 2*len(checks)))
		require.NotContains(t, out, "FAIL")
		for line := range strings.Lines(out) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), term.Columns+1, line)
		}
		require.NotRegexp(t, `(?m) $`, out, "blanks at the end of a line")
	}
}

// The table has two groups, its columns and the totals.
func TestGradcheckTable(t *testing.T) {
	const some = `^(Softmax, 1-D|Tril, 2-D|Linear, \(B, T, In\), bias)$`
	out, err := commandtest.Output(t.Context(), New(), "--run", some, "--dtype", "float64")
	require.NoError(t, err)
	require.Regexp(t, `^OP {30}CASES    ELEMENTS   FLOAT64  VERDICT
Softmax {29}1           7   \d\.\de-\d\d  ok
Tril {32}1          25   \d\.\de[-+]\d\d  ok

LAYER {27}CASES    ELEMENTS   FLOAT64  VERDICT
Linear {30}1          72   \d\.\de[-+]\d\d  ok

3 of 3 right, 104 elements compared
$`, out)

	out, err = commandtest.Output(t.Context(), New(), "--run", `^(Tril, .-D|Linear, \(B, T, In\), bias)$`, "--all")
	require.NoError(t, err)
	require.Regexp(t, `^OP {41}ELEMENTS   FLOAT64   FLOAT32  VERDICT
Tril, 2-D {40}50   \d\.\de[-+]\d\d   \d\.\de[-+]\d\d  ok
Tril, 3-D +36   \d\.\de[-+]\d\d   \d\.\de[-+]\d\d  ok

LAYER {38}ELEMENTS   FLOAT64   FLOAT32  VERDICT
Linear, \(B, T, In\), bias {24}144   \d\.\de[-+]\d\d   \d\.\de[-+]\d\d  ok

6 of 6 right, \d+ elements compared
$`, out)

	out, err = commandtest.Output(t.Context(), New(), "--run", "^Tril, 2-D$", "--fast")
	require.NoError(t, err)
	require.Contains(t, out, "DIRECTIONS")
	require.Contains(t, out, "2 of 2 right, 2 directions compared")
}

func TestGradcheckSeed(t *testing.T) {
	run := func(seed string) string {
		out, err := commandtest.Output(t.Context(), New(), "--run", "^Softmax", "--seed", seed)
		require.NoError(t, err)
		return out
	}
	require.Equal(t, run("5"), run("5"))
	require.NotEqual(t, run("5"), run("6"))
}

// wrongChecks returns three checks: of an op with a wrong gradient (Gorgonia's 1/√x), of an op that cannot be built,
// and of a correct op.
func wrongChecks() []check {
	x := gradcases.Float("x", 2, 3)
	positive := x
	positive.Positive = true
	var checks []check
	for _, c := range []gradcases.Case{
		{Op: "InverseSqrt", About: "wrong", Inputs: []gradcases.Input{positive},
			Apply: func(in G.Nodes) (*G.Node, error) { return G.InverseSqrt(in[0]) }},
		{Op: "Nothing", About: "fails", Apply: func(G.Nodes) (*G.Node, error) { return nil, errors.New("no such op") }},
		{Op: "Neg", About: "right", Inputs: []gradcases.Input{x}, Apply: func(in G.Nodes) (*G.Node, error) {
			return G.Neg(in[0])
		}},
	} {
		checks = append(checks, ofOp(c))
	}
	return checks
}

func TestGradcheckWrongOp(t *testing.T) {
	for _, args := range [][]string{{}, {"--fast", "--all"}} {
		out, err := commandtest.Output(t.Context(), newCommand(wrongChecks), args...)
		require.EqualError(t, err, "4 of 6 failed: InverseSqrt, wrong (float64); InverseSqrt, wrong (float32); "+
			"Nothing, fails (float64); Nothing, fails (float32)")
		require.Equal(t, 2, strings.Count(out, "  FAIL\n"))
		require.Equal(t, 1, strings.Count(out, "  ok\n"))
		require.Regexp(t, `(?m)^Nothing.* 0 +-  +-  FAIL$`, out)
		require.Regexp(t, `(?m)^InverseSqrt, wrong \(float32\)\n`+
			`  x \(2, 3\): FAIL: .*(at \[\d \d\]|along a random direction): analytic `, out)
		require.Contains(t, out, "\nNothing, fails (float64)\n  no such op\n")
		require.Regexp(t, `\n2 of 6 right, \d+ (elements|directions) compared\n$`, out)
	}
	out, err := commandtest.Output(t.Context(), newCommand(wrongChecks), "--run", "right")
	require.NoError(t, err, out)
}

func TestGradcheckWrongFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{args: []string{"--run", "nothing"}, want: `--run: got "nothing", which matches none of 3 names`},
		{args: []string{"--run", "["}, want: "--run: error parsing regexp: missing closing ]: `[`"},
		{args: []string{"--dtype", "float16"}, want: `--dtype: got "float16", want float32, float64 or both`},
		{args: []string{"softmax"}, want: `unknown command "softmax" for "attention gradcheck"`},
		{args: []string{"--seed", "-1"}, want: `--seed: got "-1", want a whole number of at least 0`},
	} {
		_, err := commandtest.Output(t.Context(), newCommand(wrongChecks), c.args...)
		require.EqualError(t, err, c.want)
	}
}

func TestGradcheckInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := commandtest.Output(ctx, New())
	require.EqualError(t, err, "interrupted")
	require.True(t, term.IsInterrupted(err))
}

// The gradient of an op that ignores its input is right.
func TestGradcheckNothingButZeros(t *testing.T) {
	lost := gradcases.Case{Op: "Lost", About: "all of it", Inputs: []gradcases.Input{gradcases.Float("x", 2, 3)},
		Apply: func(in G.Nodes) (*G.Node, error) { return graph.Scale(in[0], 0) }}
	flat := lost
	flat.Flat = true
	only := func(c gradcases.Case) func() []check { return func() []check { return []check{ofOp(c)} } }
	for _, args := range [][]string{{}, {"--fast"}} {
		out, err := commandtest.Output(t.Context(), newCommand(only(lost)), args...)
		require.ErrorContains(t, err, "2 of 2 failed: Lost")
		require.Contains(t, out, "all derivatives are 0, want some that are not")
		_, err = commandtest.Output(t.Context(), newCommand(only(flat)), args...)
		require.NoError(t, err)
	}
}
