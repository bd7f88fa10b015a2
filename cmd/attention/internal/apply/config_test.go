package apply

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"attention/cmd/attention/internal/term"

	"github.com/stretchr/testify/require"
)

var oneLineError = regexp.MustCompile(`^[^\n]+$`)

// Any text is a layer or one line of what is wrong with it. Nothing is allocated for
// sizes before they are checked.
func FuzzLayerConfig(f *testing.F) {
	files, err := filepath.Glob("../../../../testdata/apply/*/layer.json")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(`{"layer":"attention","d_in":4,"num_heads":2,"window":[1,-1],"rope":{"dims":3},"relative_bias":{"buckets":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		fields, err := parseConfig(text)
		var layer *layer
		if err == nil {
			layer, err = newLayer(fields)
		}
		if err != nil {
			require.Regexp(t, oneLineError, term.OneLine(err))
			return
		}
		require.NotEmpty(t, layer.name)
		require.NotEmpty(t, layer.inputs)
		for _, p := range layer.parameters {
			require.NotEmpty(t, p.name)
			require.Positive(t, p.shape.TotalSize(), p.name)
		}
	})
}
