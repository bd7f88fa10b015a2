package view_test

import (
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// encoderOf is an encoder with the methods of a decoder.
type encoderOf struct{ *pretrained.Encoder }

func (e encoderOf) Params() *layers.Params { return e.Encoder.Params }

func (e encoderOf) Forward(b *layers.Build, ids *G.Node) (*G.Node, error) {
	return e.Model.Forward(b, layers.EncoderInput{IDs: ids})
}

// templated encodes with the template.
type templated struct{ *text.SubwordTokenizer }

func (t templated) Encode(s string) ([]int, error) {
	ids, err := t.SubwordTokenizer.Encode(s)
	return t.WithTemplate(ids), err
}

// The page shows the heads of an encoder: WordPiece's tokens with ## and those of the template, weights in both
// directions, and nothing that comes next. An exported page does, too.
func TestEncoder(t *testing.T) {
	t.Parallel()
	dir, err := golden.Path("encoders", "bert")
	require.NoError(t, err)
	e, err := pretrained.OpenEncoder(dir)
	require.NoError(t, err)
	const given = "Hello wordy [MASK]"
	weights := layerWeights(t, encoderOf{e}, templated{e.Tokenizer}, given)
	args := []string{"--model", dir, "--text", given}
	file := filepath.Join(t.TempDir(), "page.html")
	_, err = commandtest.Output(t.Context(), view.New(), append(args[:4:4], "--export", file)...)
	require.NoError(t, err)
	p := openPage(t, "layer=1&head=1&q=2", args...)
	for range 2 {
		p.waitFor(arcsDrawn)
		require.Equal(t, []string{"[CLS]", "hello", "word", "##y", "[MASK]", "[SEP]"},
			js[[]string](p, `[...document.querySelectorAll(".token")].map((e) => e.textContent)`))
		p.requireSight(weights[1][36+2*6:][:6])
		require.True(t, js[bool](p, `document.querySelector(".next-side").hidden`))
		require.False(t, js[bool](p, `document.querySelector(".next-side").checkVisibility()`))
		p.set("panel=heads&layer=1&head=1&q=2&k=3")
		p.waitFor(headReady)
		p.requireColours(weights[1][36:], 6)
		p.screenshots(t, "encoder")
		p.set("panel=journey")
		p.waitFor(`document.body.textContent.includes("that of a model that continues a text. Of other models")`)
		p = tab(t, "", "file://"+file)
		p.open("file://" + file + "#layer=1&head=1&q=2")
	}
}
