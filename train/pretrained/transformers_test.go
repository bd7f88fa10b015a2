package pretrained_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// refusedForms matches the errors about unsupported forms.
var refusedForms = regexp.MustCompile(`rope_type: got "longrope"|truncate: got false|want an even number of them|` +
	`with (linear|dynamic|llama3|proportional|yarn) positions turns whole heads`)

// Folders written by transformers 5, and the same folders with the keys of transformers 4, give transformers' logits.
// testdata/families/random_folders.py made the folders in testdata/families/transformers; ATTENTION_FOLDERS names
// others. ATTENTION_FOLDERS names others.
func TestFoldersOfTransformers(t *testing.T) {
	own, err := golden.Path("families", "transformers")
	require.NoError(t, err)
	folders, err := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("ATTENTION_FOLDERS"), own), "*"))
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	refused := 0
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			g, err := pretrained.ReadGPT(dir)
			if err != nil && refusedForms.MatchString(err.Error()) {
				refused++
				t.Skip(err)
			}
			require.NoError(t, err)
			require.NotContains(t, strings.Join(g.Ignored, " "), "rope")
			values, err := safetensors.ReadFile(filepath.Join(dir, "values.safetensors"))
			require.NoError(t, err)
			ids, want := values.Tensors[0], values.Tensors[1]
			for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-9, tensor.Float32: 1e-3} {
				logits := run(t, as(t, g, dt), ids.Data.([]int64), ids.Shape...)
				golden.Close(t, "logits", want.Data.([]float64), logits, tolerance, tolerance)
			}
		})
	}
	t.Logf("%d folders, %d refused for a stated reason", len(folders), refused)
}
