package view_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/plot"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/text"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// forwarder is a model of the library.
type forwarder interface {
	Params() *layers.Params
	Forward(b *layers.Build, ids *G.Node) (*G.Node, error)
}

// layerWeights returns the complete weights (H, T, T) of each layer for a text, computed by the library.
func layerWeights(t testing.TB, m forwarder, tokenizer text.Tokenizer, text string) (all [][]float64) {
	ids, err := tokenizer.Encode(text)
	require.NoError(t, err)
	b := layers.NewBuild(m.Params(), layers.Eval)
	b.Observe("*")
	in := b.InputOf(tensor.Int, "ids", len(ids))
	b.Of(m.Forward(b, in))
	var nodes G.Nodes
	for _, c := range b.Calls("*") {
		nodes = append(nodes, b.Of(c.Weights()))
	}
	require.NoError(t, b.Err())
	vm, err := machine.New(nodes...)
	require.NoError(t, err)
	require.NoError(t, G.Let(in, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))))
	require.NoError(t, vm.RunAll())
	for _, n := range nodes {
		all = append(all, golden.Floats(t, n.Value()))
	}
	return all
}

// colourAt returns the colour of a palette at a part of its length, from 0 to 1.
func colourAt(t testing.TB, palette string, part float64) [3]uint8 {
	at := int(math.Round(min(max(part, 0), 1) * 255))
	c, err := hex.DecodeString(palette[6*at : 6*at+6])
	require.NoError(t, err)
	return [3]uint8(c)
}

// weightColours returns the possible colours of a weight in a row with the largest weight most: two if the weight is
// between two colours.
func weightColours(t testing.TB, weight, most float64) (all [][3]uint8) {
	light, _ := plot.Palettes()
	for _, off := range []float64{-1e-6, 1e-6} {
		all = append(all, colourAt(t, light.Weights, weight/most+off))
	}
	return all
}

// hiddenColour is the colour of masked cells, on light paper.
var hiddenColour = [3]uint8{236, 238, 241}

// canvas returns the picture of a canvas and its data attributes.
func (p *page) canvas(selector string) (image.Image, map[string]string) {
	p.t.Helper()
	got := js[map[string]string](p, fmt.Sprintf(
		`(c => ({...c.dataset, url: c.toDataURL()}))(document.querySelector(%q))`, selector))
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(got["url"], "data:image/png;base64,"))
	require.NoError(p.t, err)
	picture, err := png.Decode(bytes.NewReader(data))
	require.NoError(p.t, err)
	return picture, got
}

func pixel(picture image.Image, x, y int) [3]uint8 {
	r, g, b, _ := picture.At(x, y).RGBA()
	return [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
}

// The canvas of the chosen head has the colours of the library's weights, and grey in masked cells.
func TestHeadsShowTheLibrarysNumbers(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	weights := layerWeights(t, g.Model, g.Tokenizer, text)
	p := openPage(t, "panel=heads", "--model", commandtest.WriteGPT(t, g), "--text", text)
	for _, head := range []struct{ layer, head int }{{0, 0}, {1, 2}} {
		p.click(fmt.Sprintf(`[data-layer="%d"][data-head="%d"]`, head.layer, head.head))
		p.waitFor(fmt.Sprintf(`document.querySelector("h2.head").textContent === "Layer %d, head %d" &&
			document.querySelector(".heatmap canvas")?.dataset.ready === "yes"`, head.layer, head.head))
		p.requireColours(weights[head.layer][head.head*11*11:][:11*11], 11)
	}
}

// requireColours requires that the heat map shows weights (T, T). Each row is scaled by its largest weight, and the
// cells after the diagonal are hidden.
func (p *page) requireColours(weights []float64, T int) {
	p.t.Helper()
	picture, geometry := p.canvas(".heatmap canvas")
	var cell, x, y float64
	_, err := fmt.Sscan(geometry["cell"]+" "+geometry["x"]+" "+geometry["y"], &cell, &x, &y)
	require.NoError(p.t, err)
	for q := range T {
		for k := range T {
			// In a corner of the cell, away from the number.
			got := pixel(picture, int(x+(float64(k)+0.15)*cell), int(y+(float64(q)+0.15)*cell))
			want := [][3]uint8{hiddenColour}
			if k <= q || weights[q*T+k] > 0 {
				want = weightColours(p.t, weights[q*T+k], slices.Max(weights[q*T:][:T]))
			}
			require.Contains(p.t, want, got, "query %d, key %d: weight %v", q, k, weights[q*T+k])
		}
	}
}

const headReady = `document.querySelector(".heatmap canvas")?.dataset.ready === "yes"`

// The keyboard moves the chosen cell, and its pair, weight and score are announced. The state in the URL is restored.
func TestHeadsByKeyboard(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	weights := layerWeights(t, g.Model, g.Tokenizer, text)
	p := openPage(t, "panel=heads&layer=1&head=1&q=4&k=2", "--model", commandtest.WriteGPT(t, g), "--text", text)
	p.waitFor(headReady)
	weight := func(q, k int) float64 { return weights[1][121+11*q+k] }
	require.Contains(t, p.text(".readout"), fmt.Sprintf("query 4 “d” → key 2 “c”: weight %.4f, score ", weight(4, 2)))
	p.do(chromedp.Focus(chromedp.CSS(".heatmap canvas")), chromedp.KeyEvent(kb.ArrowDown+kb.ArrowRight))
	require.Contains(t, p.text(".readout"), fmt.Sprintf("query 5 “é” → key 3 “·”: weight %.4f", weight(5, 3)))
	require.Contains(t, js[string](p, "location.hash"), "q=5&k=3")
	p.do(chromedp.KeyEvent(kb.ArrowRight + kb.ArrowRight + kb.ArrowRight))
	require.Contains(t, p.text(".readout"), "hidden by the mask")
	before := js[string](p, `document.querySelector(".heatmap canvas").dataset.cell`)
	p.do(chromedp.KeyEvent("+"))
	p.waitFor(fmt.Sprintf(`document.querySelector(".heatmap canvas").dataset.cell > %s && %s`, before, headReady))
	p.do(chromedp.KeyEvent("0"))
	p.waitFor(fmt.Sprintf(`document.querySelector(".heatmap canvas").dataset.cell === %q`, before))
	p.do(chromedp.KeyEvent("4")) // the fourth panel
	p.waitFor(`document.querySelector("h3")?.textContent.includes("products")`)
}

// The panel has the mean of the heads, all weights as a table, the statistics in any order, and pictures.
func TestHeadsTablesAndPictures(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	weights := layerWeights(t, g.Model, g.Tokenizer, text)
	p := openPage(t, "panel=heads&head=mean", "--model", commandtest.WriteGPT(t, g), "--text", text)
	p.waitFor(headReady)
	rows := p.csv(".wide .tools .csv")
	require.Equal(t, []string{"query \\ key", "a", "b", "c", " ", "d", "é", "f", "g", "\n", "a", "b"}, rows[0])
	for q := range 11 {
		for k := range 11 {
			if k > q {
				require.Empty(t, rows[q+1][k+1])
				continue
			}
			want := (weights[0][q*11+k] + weights[0][121+q*11+k] + weights[0][242+q*11+k]) / 3
			require.InDelta(t, want, float(t, rows[q+1][k+1]), 1e-6)
		}
	}
	p.waitFor(`document.querySelectorAll(".statistics tbody tr").length === 6`)
	p.click(`.statistics [data-by="first"]`)
	table := p.csv(".statistics caption button")
	require.Equal(t, []string{"layer", "head", "entropy", "first", "self", "previous", "largest", "distance", "telling"}, table[0])
	last := math.Inf(1)
	for _, row := range table[1:] {
		layer, head := int(float(t, row[0])), int(float(t, row[1]))
		of := statisticsOf(weights[layer][head*121:][:121], 11)
		for i, want := range of {
			require.InDelta(t, want, float(t, row[[]int{2, 3, 4, 5, 7, 8}[i]]), 1e-5, "%v, %s", row, table[0])
		}
		require.LessOrEqual(t, of[1], last, "sorted by the weight on the first key")
		last = of[1]
	}
	name, picture := p.saved(".wide .save button:nth-child(2)")
	require.Equal(t, "layer-0-head-mean.svg", name)
	require.Equal(t, 122, strings.Count(picture, "<rect"), "cells, and the paper")
	name, picture = p.saved(".wide .save button")
	require.Equal(t, "layer-0-head-mean.png", name)
	_, err := png.Decode(strings.NewReader(picture))
	require.NoError(t, err)
}

// statisticsOf returns means over the queries of weights (T, T): entropy, weight on the first key, on the query itself
// and on the key before it, and distance. It also returns how telling they are, a mean over the queries that see at
// least 5 keys.
func statisticsOf(w []float64, T int) (of [6]float64) {
	for q := range T {
		if q >= 4 {
			entropy := 0.0
			for _, x := range w[q*T:][:q+1] {
				entropy -= x * math.Log(max(x, 1e-300))
			}
			of[5] += (1 - entropy/math.Log(float64(q+1))) * (1 - w[q*T] - w[q*T+q]) / float64(T-4)
		}
		for k := range q + 1 {
			x := w[q*T+k] / float64(T)
			if x > 0 {
				of[0] -= x * math.Log(w[q*T+k])
			}
			of[4] += x * float64(q-k)
		}
		of[1] += w[q*T] / float64(T)
		of[2] += w[q*T+q] / float64(T)
		if q > 0 {
			of[3] += w[q*T+q-1] / float64(T)
		}
	}
	return of
}
