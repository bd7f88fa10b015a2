package trials

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

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
