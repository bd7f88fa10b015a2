package flags

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestMeantFor(t *testing.T) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range []string{"steps", "decay-steps", "heads", "head-stats", "lr", "min-lr", "hidden-one"} {
		set.Int(name, 1, "")
	}
	require.NoError(t, set.MarkHidden("hidden-one"))
	const line = "\n\nDid you mean this?\n"
	for _, row := range []struct{ reason, typed, want string }{
		{reason: "two letters swapped", typed: "stpes", want: line + "--steps"},
		{reason: "a letter missing", typed: "stes", want: line + "--steps"},
		{reason: "a letter too many", typed: "stepss", want: line + "--steps"},
		{reason: "one letter for another", typed: "min-lt", want: line + "--min-lr"},
		{reason: "the beginning of two", typed: "head", want: line + "--head-stats --heads"},
		{reason: "too short to tell", typed: "l"},
		{reason: "like none", typed: "speed"},
		{reason: "a hidden one is not named", typed: "hidden-on"},
		{reason: "longer than any", typed: "steps-of-the-training-without-those-of-warm-up"},
	} {
		require.Equal(t, row.want, meantFor(set, row.typed), row.reason)
	}
}

func TestCommandLine(t *testing.T) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	set.Int("steps", 1, "")
	set.Bool("bias", false, "")
	set.StringArray("date", nil, "")
	set.String("out", "", "")
	require.NoError(t, set.Parse([]string{"--date", "1, 2", "--bias", "--date", "", "--out", "it's"}))
	require.Equal(t, `attention x --date '1, 2' --date '' --bias=true --out 'it'\''s'`, CommandLine("x", set))
}
