package pretrained_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// Every form that is written can be read. The model has the same scores and is written to the same file again, bit for
// bit. Gemma's norms are stored as 1 + weight, which rounds the weight.
func TestReadGGUF(t *testing.T) {
	ids := []int64{3, 0, 12, 7, 7, 1, 9, 4}
	for _, name := range slices.Sorted(maps.Keys(decoders)) {
		for _, typ := range pretrained.GGUFTypes() {
			t.Run(name+" "+string(typ), func(t *testing.T) {
				g, path := decoder(t, decoders[name].config), filepath.Join(t.TempDir(), "model.gguf")
				require.NoError(t, g.WriteGGUF(path, typ))
				got, err := pretrained.ReadGPT(path)
				require.NoError(t, err)
				require.Equal(t, g.Tokenizer, got.Tokenizer)
				again := filepath.Join(t.TempDir(), "model.gguf")
				require.NoError(t, got.WriteGGUF(again, typ))
				if !strings.HasPrefix(name, "gemma") {
					requireSameFile(t, path, again)
				}
				if typ != "f32" {
					return
				}
				n := len(ids)
				want := logProbs(run(t, g, ids, n), n)
				require.Less(t, furthest(t, want, logProbs(run(t, got, ids, n), n)), 2e-5) // float32 and float64
			})
		}
	}
}

// requireSameFile requires that two files are the same.
func requireSameFile(t testing.TB, want, got string) {
	x, err := os.ReadFile(want)
	require.NoError(t, err)
	y, err := os.ReadFile(got)
	require.NoError(t, err)
	if len(x) == len(y) {
		for i := range x {
			require.Equal(t, x[i], y[i], "byte %d of %d", i, len(x))
		}
	}
	require.Len(t, y, len(x))
}
