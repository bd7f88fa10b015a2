package bench

import (
	"encoding/json"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

func TestBenchTimesAStepOfAGPT(t *testing.T) {
	out, err := commandtest.Output(t.Context(), New(), "--json", "--runs", "2", "--mode", "gpt-step",
		"--batch", "2", "--tokens", "7", "--width", "6", "--heads", "3", "--layers", "2")
	require.NoError(t, err)
	var r result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, "B2 T7 E6 H3 L2 gpt-step", r.Name)
	require.Equal(t, 2, r.Layers)
	require.Positive(t, r.Seconds)
}
