package trials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"attention/cmd/attention/internal/term"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// The reports of trials are called in their order, whichever trial ends first.
func TestTrialsReportInOrder(t *testing.T) {
	var printed bytes.Buffer
	second := make(chan bool)
	all := &Trials{Out: term.NewOutput(&printed)}
	err := all.Each(t.Context(), 4, 1, 2, func(_ context.Context, i int) (report func() error, err error) {
		if i == 0 {
			<-second
		} else if i == 1 {
			close(second)
		}
		return func() error { _, err := fmt.Fprintf(&printed, "trial %d\n", i); return err }, nil
	})
	require.NoError(t, err)
	require.Equal(t, "trial 0\ntrial 1\ntrial 2\ntrial 3\n", printed.String())
}

// The first error of a trial or a report ends all trials, and Each returns it.
func TestTrialsEndWithTheFirstError(t *testing.T) {
	wrong := errors.New("wrong")
	all := &Trials{Out: term.NewOutput(&bytes.Buffer{})}
	err := all.Each(t.Context(), 6, 1, 2, func(ctx context.Context, i int) (report func() error, err error) {
		if i == 1 {
			return nil, wrong
		}
		<-ctx.Done()
		return func() error { t.Error("a trial reports after an error"); return nil }, ctx.Err()
	})
	require.Equal(t, wrong, err)
	calls := 0
	err = all.Each(t.Context(), 6, 1, 2, func(context.Context, int) (report func() error, err error) {
		return func() error { calls++; return wrong }, nil
	})
	require.Equal(t, wrong, err)
	require.Equal(t, 1, calls)
}

func TestTrials(t *testing.T) {
	parse := func(args string) (Flags, error) {
		var trials Flags
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		trials.Define(set, "why", "80 of one, 90 of the other", 3)
		require.NoError(t, set.Parse(strings.Fields(args)))
		return trials, trials.Validate(set)
	}
	trials, err := parse("")
	require.NoError(t, err)
	require.Equal(t, Flags{Seeds: 3, Seed: 1}, trials)
	require.Equal(t, []int64{1, 2, 3}, trials.All())
	trials, err = parse("--steps 5 --seeds 2 --seed -1 --out x")
	require.NoError(t, err)
	require.Equal(t, Flags{Steps: 5, Seeds: 2, Seed: -1, Out: "x"}, trials)
	require.Equal(t, []int64{-1, 0}, trials.All())
	for args, want := range map[string]string{
		"--steps 0":   "--steps: got 0, want at least 1",
		"--seeds 0":   "--seeds: got 0, want 1 to 100",
		"--seeds 101": "--seeds: got 101, want 1 to 100",
		"--out=":      "--out: got nothing, want the name of a folder",
	} {
		_, err := parse(args)
		require.EqualError(t, err, want)
	}
}
