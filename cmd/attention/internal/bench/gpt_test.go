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
	require.Equal(t, 65, r.Vocab)
	require.Positive(t, r.Seconds)
}

// The vocabulary is part of the name where it is not that of characters, also in a process of its own.
func TestBenchTimesAStepWithAVocabulary(t *testing.T) {
	out, err := commandtest.Output(t.Context(), New(), "--json", "--runs", "1", "--mode", "gpt-step",
		"--batch", "1", "--tokens", "5", "--width", "6", "--heads", "3", "--layers", "1", "--vocab", "301")
	require.NoError(t, err)
	require.Contains(t, out, `"name":"B1 T5 E6 H3 L1 V301 gpt-step"`)
	require.Contains(t, out, `"vocab":301,`)
	w := work{Mode: gptStep, Vocab: 301}
	require.Equal(t, []string{"--vocab", "301"}, w.flags()[len(w.flags())-2:])
}
