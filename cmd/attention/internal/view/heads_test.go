package view_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// forwarder is a model of the library.
type forwarder interface {
	Params() *layers.Params
	Forward(b *layers.Build, ids *G.Node) (*G.Node, error)
}

// weightsOf returns the weights (H, T, T) of each layer that the library computes, whole, for a text.
func weightsOf(t testing.TB, m forwarder, tokenizer text.Tokenizer, text string) (all [][]float64) {
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

// viridis returns the colour of a weight.
func viridis(t testing.TB, weight float64) [3]uint8 {
	all, err := os.ReadFile("testdata/viridis.txt")
	require.NoError(t, err)
	at := int(math.Round(min(max(weight, 0), 1) * 255))
	c, err := hex.DecodeString(strings.TrimSpace(string(all))[6*at : 6*at+6])
	require.NoError(t, err)
	return [3]uint8(c)
}

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

// The canvas of a head that was clicked has the colours of the library's numbers, and grey where the mask hides.
func TestHeadsShowTheLibrarysNumbers(t *testing.T) {
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	weights := weightsOf(t, g.Model, g.Tokenizer, text)
	p := openPage(t, "", "--model", commandtest.WriteGPT(t, g), "--text", text)
	for _, head := range []struct{ layer, head int }{{0, 0}, {1, 2}} {
		p.click(fmt.Sprintf(`[data-layer="%d"][data-head="%d"]`, head.layer, head.head))
		p.waitFor(fmt.Sprintf(`document.querySelector("h2.head").textContent === "Layer %d, head %d" &&
			document.querySelector(".heatmap canvas")?.dataset.ready === "yes"`, head.layer, head.head))
		p.requireColours(weights[head.layer][head.head*11*11:][:11*11], 11)
	}
}

// requireColours requires that the heat map shows weights (T, T), those after the diagonal hidden.
func (p *page) requireColours(weights []float64, T int) {
	p.t.Helper()
	picture, geometry := p.canvas(".heatmap canvas")
	var cell, x, y float64
	_, err := fmt.Sscan(geometry["cell"]+" "+geometry["x"]+" "+geometry["y"], &cell, &x, &y)
	require.NoError(p.t, err)
	for q := range T {
		for k := range T {
			// In a corner of the cell, beside the number.
			got := pixel(picture, int(x+(float64(k)+0.15)*cell), int(y+(float64(q)+0.15)*cell))
			want := [][3]uint8{{206, 209, 214}}
			if w := weights[q*T+k]; k <= q { // of two colours, if the weight is between them
				want = [][3]uint8{viridis(p.t, w-1e-6), viridis(p.t, w+1e-6)}
			}
			require.Contains(p.t, want, got, "query %d, key %d: weight %v", q, k, weights[q*T+k])
		}
	}
}
