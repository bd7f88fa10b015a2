package flags

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

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
