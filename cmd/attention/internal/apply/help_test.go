package apply

import (
	"attention/cmd/attention/internal/commandtest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestApplyHelp: the help names every layer, and every field, parameter, input and
// flag.
func TestApplyHelp(t *testing.T) {
	out, err := commandtest.Output(t.Context(), New(), "--help")
	require.NoError(t, err)
	for _, name := range layerNames() {
		require.Contains(t, out, name)
		_, err := newLayer([]byte(`{"layer": "` + name + `", "?": 0}`))
		_, known, ok := strings.Cut(err.Error(), "it has ")
		require.True(t, ok, err)
		fields := strings.Split(known, ", ")
		require.Greater(t, len(fields), 3)
		for _, field := range fields {
			require.Regexp(t, `\n  ([a-z_]+, )*`+field+`[ ,\n]`, out)
		}
	}
	for _, name := range caseNames(t) {
		l, err := readLayer(caseFiles(t, name).config)
		require.NoError(t, err)
		for _, p := range l.parameterNames() {
			if _, ofHead, ok := strings.Cut(p, "heads."); ok {
				_, p, _ = strings.Cut(ofHead, ".") // without the number
			}
			module, _, _ := strings.Cut(p, ".")
			require.True(t, strings.Contains(out, p) || strings.Contains(out, module+".…"), p)
		}
		for _, in := range l.inputs() {
			require.Contains(t, out, "\n  "+in.name+" ")
		}
	}
	for _, flag := range []string{"--config file", "--weights file", "--input file", "--output file", "--dtype type"} {
		require.Contains(t, out, flag)
	}
	for line := range strings.Lines(help + "\n" + example) {
		require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), 80, line)
	}
}
