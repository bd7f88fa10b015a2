package translate

import (
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"attention/cmd/attention/internal/run"
	"attention/train"

	"github.com/stretchr/testify/require"
)

// A model is used only with the config.json that it was trained with, and only if it has numbers: finished or not.
func TestReadModelRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, printTo(t.Context(), io.Discard, append(tinyTranslate("1"), "--out", "run")...))
	good, err := os.ReadFile("run/config.json")
	require.NoError(t, err)
	changed := strings.Replace(string(good), `"heads": 2`, `"heads": 3`, 1) // the parameters have the same shapes
	require.NoError(t, os.WriteFile("run/config.json", []byte(changed), 0o644))
	requireError := func(want string) {
		t.Helper()
		_, err := readModel("run")
		require.ErrorContains(t, err, want)
	}
	requireError("run/config.json: config: got ")
	requireError(", that of run/model.safetensors")
	model, err := os.ReadFile("run/model.safetensors")
	require.NoError(t, err)
	require.NoError(t, os.Remove("run/model.safetensors"))
	requireError(", that of run/checkpoints/step-00000003.safetensors")
	require.NoError(t, os.WriteFile("run/config.json", good, 0o644))

	require.NoError(t, os.WriteFile("run/model.safetensors", model, 0o644))
	m, err := readModel("run")
	require.NoError(t, err)
	for _, value := range m.params.All() {
		value.Float32s()[0] = float32(math.NaN())
		break
	}
	f, err := run.OpenFolder("run", checkpoints)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.WriteParams(nil, m.params, 3))
	_, err = readModel("run")
	require.ErrorIs(t, err, train.ErrNotFinite)
	require.ErrorContains(t, err, "run/model.safetensors: parameter ")
}
