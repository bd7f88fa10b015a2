package view_test

import (
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view/forward"

	"github.com/stretchr/testify/require"
)

// linearRun writes the folder of a decoder with a layer of the delta rule and a layer of full attention.
func linearRun(t testing.TB) string {
	dir, _, _ := commandtest.DecoderRunOf(t, `{"vocab_size": 5, "context_length": 9, "num_layers": 2,
		"pattern": [0, 1], "blocks": [
		{"attention": {"embed_dim": 8, "num_heads": 2}, "linear": {"delta": true, "decay": "head", "qk_norm": true}},
		{"attention": {"embed_dim": 8, "num_heads": 2}}]}`)
	return dir
}

// For linear attention the page shows the weights that its states imply, and says so. It also shows the norm of the
// states. Panels of scores say that there are no scores.
func TestImpliedWeights(t *testing.T) {
	t.Parallel()
	dir := linearRun(t)
	model, err := forward.Open(dir)
	require.NoError(t, err)
	seen, err := model.Forward(t.Context(), forward.Request{Text: "badcabeec"})
	require.NoError(t, err)
	weights, _, norms, err := seen.Layers[0].Implied(1)
	require.NoError(t, err)
	p := openPage(t, "panel=heads&layer=0&head=1", "--model", dir, "--text", "badcabeec")
	p.waitFor(headReady)
	require.Contains(t, p.text(".implied"), "Implied weights")
	rows := p.csv(".wide .tools .csv")
	for i, w := range weights {
		if q, k := i/9, i%9; k <= q {
			require.InDelta(t, w, float(t, rows[q+1][k+1]), 1e-6)
		} else {
			require.Empty(t, rows[q+1][k+1])
		}
	}
	curve := p.csv(".curves .csv")
	require.Equal(t, []string{"token", "norm"}, curve[0])
	for i, v := range norms {
		require.InDelta(t, v, float(t, curve[i+1][1]), 1e-5)
	}
	p.waitFor(`document.querySelectorAll(".statistics tbody tr").length === 4`)
	p.screenshots(t, "implied")
	p.set("panel=heads&layer=0&head=mean")
	p.waitFor(headReady)
	require.Equal(t, []string{"token", "head 0", "head 1"}, p.csv(".curves .csv")[0])
	p.set("panel=heads&layer=1&head=1")
	p.waitFor(headReady + ` && !document.querySelector(".implied, .curves")`)
	p.set("panel=attention&layer=0&head=1&q=8")
	p.waitFor(arcsDrawn)
	require.Contains(t, p.text(".where"), "Implied weights")
	p.screenshots(t, "implied-attention")
	p.set("panel=pair&layer=0&head=1")
	p.waitFor(`document.querySelector("main h2")?.textContent === "No scores"`)
	p.set("panel=steps&layer=0&head=1&section=head")
	p.waitFor(`document.querySelectorAll("[data-step]").length === 2`)
	p.screenshots(t, "implied-steps")
}
