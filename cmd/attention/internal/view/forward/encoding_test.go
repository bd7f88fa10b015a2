package forward

import (
	"slices"
	"testing"

	"attention/cmd/attention/internal/run/models"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The heads of an encoder have the library's weights, on all tokens of a text with those of the template.
func TestEncoders(t *testing.T) {
	for _, name := range []string{"bert", "bert_class", "distilbert_mask"} {
		t.Run(name, func(t *testing.T) { looksAtEncoder(t, name) })
	}
}

func looksAtEncoder(t *testing.T, name string) {
	dir, err := golden.Path("encoders", name)
	require.NoError(t, err)
	model, err := Open(dir)
	require.NoError(t, err)
	require.Equal(t, []any{"encoder, 2 layers, 2 heads, width 8", 24}, []any{model.Title, model.Most})
	require.Empty(t, model.Checkpoints(models.Source{Dir: dir}))
	pass, err := model.Forward(t.Context(), Request{Text: "Hello wordy [MASK]"})
	require.NoError(t, err)
	var words []string
	var ids []int
	for _, token := range pass.Sequences[0].Tokens {
		words, ids = append(words, token.Text), append(ids, token.ID)
	}
	require.Equal(t, []string{"[CLS]", "hello", "word", "##y", "[MASK]", "[SEP]"}, words)
	require.Equal(t, [][]Candidate{}, pass.Next)

	n, err := model.open()
	require.NoError(t, err)
	e := n.(encoding)
	b := layers.NewBuild(e.Params, layers.Eval)
	b.Observe("*")
	in := b.InputOf(tensor.Int, "ids", len(ids))
	b.Of(e.Model.Forward(b, layers.EncoderInput{IDs: in}))
	require.Len(t, pass.Layers, len(b.Calls("*")))
	for i, call := range b.Calls("*") {
		weights := b.Of(call.Weights())
		require.NoError(t, b.Err())
		vm, err := machine.New(weights)
		require.NoError(t, err)
		require.NoError(t, let(in, ids))
		require.NoError(t, vm.RunAll())
		want, T := golden.Floats(t, weights.Value()), len(ids)
		layer := pass.Layers[i]
		require.Equal(t, call.Path, layer.Path)
		for q := range T {
			_, got, err := layer.row(q)
			require.NoError(t, err)
			for head := range layer.Heads {
				requireNear(t, want[(head*T+q)*T:][:T], got[head*T:][:T], "weights")
			}
		}
		require.Greater(t, want[T-1], 0.0, "the first token sees the last one")
		summary, err := layer.Summary(1)
		require.NoError(t, err)
		require.NotContains(t, summary.Thumbnail[:T*T], float32(-1), "no cell is hidden")
	}
	_, err = pass.Tells()
	require.NoError(t, err)
	_, err = pass.Journey(t.Context(), 0, 0)
	require.EqualError(t, err, "journey: got a model of two texts or an encoder, want one that continues a text")
	_, err = pass.NextAt(0, 1, 0)
	require.ErrorContains(t, err, "at: got 0")

	hidden, err := model.Forward(t.Context(), Request{Text: "Hello wordy [MASK]", Hide: []int{2}})
	require.NoError(t, err)
	_, weights, err := hidden.Layers[0].row(0)
	require.NoError(t, err)
	require.True(t, weights[2] != weights[2], "it is hidden")
	off, err := model.Forward(t.Context(), Request{Text: "Hello wordy [MASK]", Heads: []Head{{Layer: 0, Head: 1}}})
	require.NoError(t, err)
	_, changed, err := off.Layers[1].row(0)
	require.NoError(t, err)
	_, before, err := pass.Layers[1].row(0)
	require.NoError(t, err)
	require.False(t, slices.Equal(before, changed))
	_, err = model.Forward(t.Context(), Request{Text: "a", Then: []int{1}})
	require.EqualError(t, err, "then: got tokens, want none: an encoder writes none")
	_, err = model.Forward(t.Context(), Request{Text: "\xff"})
	require.ErrorContains(t, err, "text: ")
}
