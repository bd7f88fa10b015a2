package view_test

import (
	"math"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// nextOf returns the probabilities of the next token after a change of the build.
func nextOf(t testing.TB, g *pretrained.GPT, text string, change func(b *layers.Build)) map[string]float64 {
	ids, err := g.Tokenizer.Encode(text)
	require.NoError(t, err)
	b := layers.NewBuild(g.Model.Params(), layers.Eval)
	change(b)
	in := b.InputOf(tensor.Int, "ids", len(ids))
	logits := b.Of(g.Model.Forward(b, in))
	require.NoError(t, b.Err())
	vm, err := machine.New(logits)
	require.NoError(t, err)
	require.NoError(t, G.Let(in, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))))
	require.NoError(t, vm.RunAll())
	all := logits.Value().Data().([]float32)
	last := all[len(all)-logits.Shape()[1]:]
	sum, next := 0.0, map[string]float64{}
	for _, v := range last {
		sum += math.Exp(float64(v))
	}
	for id := range g.Tokenizer.Len() {
		text, err := g.Tokenizer.Decode([]int{id})
		require.NoError(t, err)
		next[text] = math.Exp(float64(last[id])) / sum
	}
	return next
}

// A hidden token, a head that is off and another text change what comes next, as in the library.
func TestWhatIf(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	p := openPage(t, "panel=whatif", "--model", commandtest.WriteGPT(t, g), "--text", text)
	check := func(column int, want map[string]float64) {
		t.Helper()
		rows := p.csv("h3 button")
		n := 0
		for _, row := range rows[1:] {
			if row[column] != "" {
				require.InDelta(t, want[row[0]], float(t, row[column]), 1e-6, row[0])
				n++
			}
		}
		require.Equal(t, 10, n)
	}
	before := nextOf(t, g, text, func(*layers.Build) {})
	p.waitFor(`document.querySelectorAll(".next").length === 2`)
	check(1, before)
	check(2, before)
	hide := func(b *layers.Build) {
		keep := tensor.New(tensor.WithShape(11), tensor.WithBacking([]int{1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1}))
		b.Mask(mask.Keep{Keep: b.Graph().Constant(keep)}, "*")
	}
	p.click(`[data-keep="token2"]`)
	p.waitFor(`document.querySelector("[data-keep=token2]").getAttribute("aria-pressed") === "true"`)
	p.waitFor(`![...document.querySelectorAll(".next:last-child td:last-child")].every((e) => e.textContent === "=")`)
	check(1, before)
	check(2, nextOf(t, g, text, hide))
	p.set("panel=whatif&hide=2&layer=1&head=1")
	p.waitFor(`document.querySelector("main fieldset .choice:last-child select").value === "1"`)
	p.click(`[data-keep="off"]`)
	p.waitFor(`document.querySelector("[data-keep=off]").textContent === "Switch on" &&
		location.hash.includes("factors=1x1x0")`)
	p.waitFor(`document.querySelector("[role=status]") === null`)
	check(2, nextOf(t, g, text, func(b *layers.Build) {
		hide(b)
		b.ScaleHeads([]float64{1, 0, 1}, "transformer.h.1.attn")
	}))
	p.click(`[data-keep="undo"]`)
	js[bool](p, `(e => { e.value = "abx"; return true; })(document.querySelector("textarea"))`)
	p.click(`[data-keep="read"]`)
	p.waitFor(`document.querySelector("[role=alert]")?.textContent.includes("got 'x' at position 2")`)
	p.expectProblem("400")
	js[bool](p, `(e => { e.value = "fed"; return true; })(document.querySelector("textarea"))`)
	p.click(`[data-keep="read"]`)
	p.waitFor(`document.querySelectorAll(".tokens .token").length === 3`)
	p.waitFor(`document.querySelectorAll(".next").length === 2`)
	check(2, nextOf(t, g, "fed", func(*layers.Build) {}))
}
