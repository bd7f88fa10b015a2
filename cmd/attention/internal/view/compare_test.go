package view_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/plot"

	"github.com/stretchr/testify/require"
)

// A run can be compared with its checkpoints, without a second --model.
func TestCompareCheckpoints(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../../../testdata/runs/finished_gpt/run")))
	p := openPage(t, "panel=compare&q=3&k=1", "--run", dir, "--text", "jumps")
	p.waitFor(`document.querySelectorAll(".three canvas").length === 3`)
	names := js[[]string](p, `[...document.querySelector("main select").options].map((o) => o.textContent)`)
	require.Equal(t, []string{"run", "run, step 12"}, names)
	require.Contains(t, p.text(".readout"), "difference 0.0000", "the run ended at its last checkpoint")
	require.Contains(t, p.text(".three section:last-child"), "All weights are the same.")
	p.screenshots(t, "compare-checkpoints")
}

// Compare shows the weights of two models over one text, and their difference. Models with different tokens are
// refused.
func TestCompare(t *testing.T) {
	t.Parallel()
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
	all, others := layerWeights(t, a.Model, a.Tokenizer, text)[0], layerWeights(t, b.Model, b.Tokenizer, text)[0]
	x, y := all[at], others[at]
	require.NotContains(t, p.text(".three"), "All weights are the same.")
	told := strings.ReplaceAll(p.text(".readout"), "−", "-") // which is a minus sign of typography
	var first, second, difference float64
	_, err := fmt.Sscanf(told, "query 6 “f” → key 2 “c”: weights %f and %f, difference %f",
		&first, &second, &difference)
	require.NoError(t, err, told)
	require.InDelta(t, x, first, 6e-5)
	require.InDelta(t, y, second, 6e-5)
	require.InDelta(t, y-x, difference, 6e-5)
	p.requireDifference(all[121:242], others[121:242], 11)
	p.set("panel=compare&q=6&k=2&head=1&theme=dark") // which makes the legends dark, too
	_, dark := plot.Palettes()
	c := colourAt(t, dark.Weights, 0.5/64)
	require.Equal(t, fmt.Sprintf("rgb(%d,%d,%d)", c[0], c[1], c[2]),
		js[string](p, `document.querySelector(".legend rect").getAttribute("fill")`))
	p.set("panel=compare&other=2")
	p.waitFor(`document.querySelector("[role=alert]")?.textContent.startsWith("text: got '")`)
	p.expectProblem("400")
}

// requireDifference checks the third picture. The cell where the weights (T, T) differ most has the end colour of the
// scale for the sign of b − a, and cells after the diagonal are grey.
func (p *page) requireDifference(a, b []float64, T int) {
	p.t.Helper()
	most := 0
	for i := range a {
		if math.Abs(b[i]-a[i]) > math.Abs(b[most]-a[most]) {
			most = i
		}
	}
	light, _ := plot.Palettes()
	end := colourAt(p.t, light.Signed, 1) // blue: the second model has the larger weight
	if b[most] < a[most] {
		end = colourAt(p.t, light.Signed, 0)
	}
	picture, geometry := p.canvas(".three section:last-child canvas")
	cell, x, y := float(p.t, geometry["cell"]), float(p.t, geometry["x"]), float(p.t, geometry["y"])
	at := func(q, k int) [3]uint8 { // in a corner of the cell, away from the number
		return pixel(picture, int(x+cell*(float64(k)+0.12)), int(y+cell*(float64(q)+0.12)))
	}
	require.Equal(p.t, end, at(most/T, most%T), "query %d, key %d", most/T, most%T)
	require.Equal(p.t, hiddenColour, at(0, T-1), "hidden")
}
