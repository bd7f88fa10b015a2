package train

import (
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// TestThemes: every flag of the command is in exactly one theme, and a theme has only flags of the command.
func TestThemes(t *testing.T) {
	in := map[string]string{}
	for _, theme := range themes {
		for _, name := range strings.Fields(theme.flags) {
			require.NotContains(t, in, name)
			in[name] = theme.name
		}
	}
	New().Flags().VisitAll(func(f *pflag.Flag) {
		require.Contains(t, in, f.Name)
		delete(in, f.Name)
	})
	require.Empty(t, in, "no flags of the command")
}

// TestHelp: the first page has the themes and the names of all flags. The page of a theme describes the flags of the
// theme, and "all" describes all flags.
func TestHelp(t *testing.T) {
	first, err := commandtest.Output(t.Context(), New(), "--help")
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(first, "\n"), 60, "a screen or two")
	all, err := commandtest.Output(t.Context(), New(), "--help", "all")
	require.NoError(t, err)
	for _, theme := range themes {
		require.Contains(t, first, "\n  "+theme.name+" ")
		printed, err := commandtest.Output(t.Context(), New(), "--help", theme.name)
		require.NoError(t, err)
		require.Contains(t, printed, theme.text)
		require.Contains(t, all, theme.text)
		for _, name := range strings.Fields(theme.flags) {
			require.Contains(t, first, "--"+name)
			require.Regexp(t, `(?m)^ +(-h, )?--`+name+` .*[a-z]`, printed)
			require.Regexp(t, `(?m)^ +--`+name+` .*[a-z]`, all)
		}
	}
	require.NotContains(t, first, "default ")
	other, err := commandtest.Output(t.Context(), New(), "--help", "modle")
	require.NoError(t, err)
	require.Equal(t, "attention: train: --help: got \"modle\", "+
		"want run, text, model, weights, steps, validation, page, all\n"+first, other)
	again, err := commandtest.Output(t.Context(), New(), "--steps", "3", "--help")
	require.NoError(t, err)
	require.Equal(t, first, again)
}
