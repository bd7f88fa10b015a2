package bench

import (
	"encoding/json"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

func TestBenchTimesAStepOfAGPT(t *testing.T) {
	out, err := commandtest.Output(t.Context(), New(), "--json", "--runs", "2", "--mode", "gpt-step",
		"--batch", "2", "--tokens", "7", "--width", "6", "--heads", "3", "--layers", "2")
	require.NoError(t, err)
	var r result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, "B2 T7 E6 H3 L2 gpt-step", r.Name)
	require.Equal(t, 2, r.NumLayers)
	require.Equal(t, 65, r.VocabSize)
	require.Positive(t, r.Seconds)
}

// A step whose products are in bfloat16 has a loss near the loss in full precision.
func TestBenchTimesAStepInBFloat16(t *testing.T) {
	t.Setenv(simd.BF16Variable, "emulated")
	out, err := commandtest.Output(t.Context(), New(), "--json", "--runs", "2", "--mode", "gpt-step", "--batch", "2",
		"--tokens", "7", "--width", "6", "--heads", "3", "--layers", "2", "--precision", "bf16")
	require.NoError(t, err)
	var r result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, "B2 T7 E6 H3 L2 bf16 gpt-step", r.Name)
	require.Equal(t, "bf16", r.Precision)
	require.Equal(t, "float32", r.Dtype)

	w := work{Batch: 2, Tokens: 7, EmbedDim: 6, NumHeads: 3, NumLayers: 2, VocabSize: 65, Causal: true, Mode: gptStep,
		Dtype: "float32"}
	loss := func(w work) float64 {
		step, err := newGPTStep(w)
		require.NoError(t, err)
		result, err := step()
		require.NoError(t, err)
		return result.Loss
	}
	full := loss(w)
	w.Precision = "bf16"
	rounded := loss(w)
	require.NotEqual(t, full, rounded)
	require.InEpsilon(t, full, rounded, 0.01)
}

// A vocabulary other than the default is part of the name, also in a process of its own.
func TestBenchTimesAStepWithAVocabulary(t *testing.T) {
	out, err := commandtest.Output(t.Context(), New(), "--json", "--runs", "1", "--mode", "gpt-step",
		"--batch", "1", "--tokens", "5", "--width", "6", "--heads", "3", "--layers", "1", "--vocab", "301")
	require.NoError(t, err)
	require.Contains(t, out, `"name":"B1 T5 E6 H3 L1 V301 gpt-step"`)
	require.Contains(t, out, `"vocab_size":301,`)
	w := work{Mode: gptStep, VocabSize: 301}
	require.Equal(t, []string{"--vocab", "301"}, w.flags()[len(w.flags())-2:])
}
