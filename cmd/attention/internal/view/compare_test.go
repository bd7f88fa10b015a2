package view_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

// A run is compared with its checkpoints, without a second --model.
func TestCompareCheckpoints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../../../testdata/runs/finished_gpt/run")))
	p := openPage(t, "panel=compare&q=3&k=1", "--run", dir, "--text", "jumps")
	p.waitFor(`document.querySelectorAll(".three canvas").length === 3 && ` + settled)
	names := js[[]string](p, `[...document.querySelector("main select").options].map((o) => o.textContent)`)
	require.Equal(t, []string{"run", "run, step 12"}, names)
	require.Contains(t, p.text(".readout"), "difference 0.0000", "the run ended at its last checkpoint")
	require.Contains(t, p.text(".three section:last-child"), "All weights are the same.")
	p.look(t, "compare-checkpoints")
}

// Two models over one text: their weights and the difference; models that see other tokens are refused.
func TestCompare(t *testing.T) {
	a, b := commandtest.SmallGPT(t), commandtest.SmallGPT(t)
	weight, _ := b.Params.Get("transformer.h.0.attn.c_attn.weight")
	for i := range weight.Float32s() {
		weight.Float32s()[i] *= -0.5
	}
	const text = "abc défg\nab"
	layer, _, _ := commandtest.LayerRun(t, "causal")
	p := openPage(t, "panel=compare&q=6&k=2&head=1", "--model", commandtest.WriteGPT(t, a), "--model",
		commandtest.WriteGPT(t, b), "--model", layer, "--text", text)
	p.waitFor(`document.querySelectorAll(".three canvas").length === 3 &&
		[...document.querySelectorAll(".three canvas")].every((c) => c.dataset.ready === "yes")`)
	at := 121 + 6*11 + 2
	x, y := weightsOf(t, a.Model, a.Tokenizer, text)[0][at], weightsOf(t, b.Model, b.Tokenizer, text)[0][at]
	require.NotContains(t, p.text(".three"), "All weights are the same.")
	told := strings.ReplaceAll(p.text(".readout"), "−", "-") // which is a minus sign of typography
	var first, second, difference float64
	_, err := fmt.Sscanf(told, "query 6 “f” → key 2 “c”: weights %f and %f, difference %f",
		&first, &second, &difference)
	require.NoError(t, err, told)
	require.InDelta(t, x, first, 6e-5)
	require.InDelta(t, y, second, 6e-5)
	require.InDelta(t, y-x, difference, 6e-5)
	p.set("panel=compare&other=2")
	p.waitFor(`document.querySelector("[role=alert]")?.textContent.startsWith("text: got '")`)
	p.expectProblem("400")
}
