package main

import (
	"image/color"
	"image/png"
	"os"
	"testing"

	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
)

// Colours that must be seen in a picture.
var (
	lossColors = map[string]color.NRGBA{
		"training": {0x1f, 0x77, 0xb4, 0xff}, "validation": {0xe6, 0x55, 0x0d, 0xff}, "text": {0, 0, 0, 0xff},
	}
	weightColors = map[string]color.NRGBA{
		"no weight": {0xff, 0xff, 0xff, 0xff}, "the greatest weight": {0x08, 0x30, 0x6b, 0xff}, "text": {0, 0, 0, 0xff},
	}
)

// requirePicture demands a PNG in which each colour, or one that differs from it by
// rounding, is seen.
func requirePicture(t *testing.T, path string, colors map[string]color.NRGBA) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	picture, err := png.Decode(f)
	require.NoError(t, err)
	box := picture.Bounds()
	require.GreaterOrEqual(t, box.Dx(), 400)
	require.GreaterOrEqual(t, box.Dy(), 400)
	seen := map[string]int{}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			pixel := color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
			for name, want := range colors {
				if near(pixel, want) {
					seen[name]++
				}
			}
		}
	}
	for name := range colors {
		require.Greater(t, seen[name], 20, "%s: %s", path, name)
	}
}

func near(a, b color.NRGBA) bool {
	for _, d := range []int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B)} {
		if d < -4 || d > 4 {
			return false
		}
	}
	return true
}

// TestWeightGrid: queries go down, keys go right.
func TestWeightGrid(t *testing.T) {
	square := []float64{
		1, 0, 0,
		2, 3, 0,
		4, 5, 6,
	}
	g := weightGrid{3, square}
	require.Equal(t, 1.0, g.Z(0, 2), "the first query is on top")
	require.Equal(t, 5.0, g.Z(1, 0))
	require.Equal(t, []float64{1, 0, 2, 3}, cutSquare(square, 3, 0, 2))
	require.Equal(t, []float64{3, 0, 5, 6}, cutSquare(square, 3, 1, 2))
}

// TestShown: at most 32 characters, with the last query of a whole window.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		layer             string
		context, first, n int
	}{{"causal", 8, 0, 8}, {"causal", 40, 0, 32}, {"additive", 8, 0, 8}, {"additive", 40, 8, 32}} {
		first, n := shown(&layerModel{config: trainOptions{layer: c.layer, context: c.context}.layerConfig(1)})
		require.Equal(t, []int{c.first, c.n}, []int{first, n}, "%+v", c)
	}
}

// TestLabels: every character shows as something.
func TestLabels(t *testing.T) {
	r := &trainRun{corpus: new(corpus)}
	var err error
	r.corpus.tokenizer, err = text.NewVocabulary("aé≤ \n\r\t\u00a0\u200d😀語")
	require.NoError(t, err)
	ids, err := r.corpus.tokenizer.Encode("aé≤ \n\r\t\u00a0\u200d😀語")
	require.NoError(t, err)
	labels, err := r.labels(ids)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "é", "≤", "·", "¶", "¤", "¤", "¤", "¤", "¤", "¤"}, labels)
}

// TestMeanLosses: groups of one size, the last one smaller.
func TestMeanLosses(t *testing.T) {
	var steps []train.Step
	for n := range 7 {
		steps = append(steps, train.Step{N: n, Loss: float64(10 * n)})
	}
	require.Equal(t, plotter.XYs{{X: 2, Y: 10}, {X: 5, Y: 40}, {X: 7, Y: 60}}, meanLosses(steps, 3))
	require.Len(t, meanLosses(steps, 100), 7)
	require.Empty(t, meanLosses(nil, 100))
}
