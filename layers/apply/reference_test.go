package apply

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReference: the reference names every layer, and every field, parameter and input.
func TestReference(t *testing.T) {
	for _, name := range Names() {
		require.Contains(t, Reference, name)
		_, err := Parse([]byte(`{"layer": "` + name + `", "?": 0}`))
		_, known, ok := strings.Cut(err.Error(), "it has ")
		require.True(t, ok, err)
		fields := strings.Split(known, ", ")
		require.Greater(t, len(fields), 3)
		for _, field := range fields {
			require.Regexp(t, `\n  ([a-z_]+, )*`+field+`[ ,\n]`, Reference)
		}
	}
	for _, name := range caseNames(t) {
		l, err := Read(caseFiles(t, name).config)
		require.NoError(t, err)
		for _, p := range l.Parameters() {
			if _, ofHead, ok := strings.Cut(p, "heads."); ok {
				_, p, _ = strings.Cut(ofHead, ".") // without the number
			}
			module, _, _ := strings.Cut(p, ".")
			require.True(t, strings.Contains(Reference, p) || strings.Contains(Reference, module+".…"), p)
		}
		for _, in := range l.inputs() {
			require.Contains(t, Reference, "\n  "+in.name+" ")
		}
	}
}
