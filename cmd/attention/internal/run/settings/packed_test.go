package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// packedForms are flags of models with every form of attention, alone, in some layers and with other parts.
func packedForms() (all [][]string) {
	for _, form := range append(Forms(), "") {
		flags := []string(nil)
		if form != "" {
			flags = []string{"--attention", form}
			all = append(all, append(slices.Clone(flags), "--full-attention-every", "2"))
		}
		all = append(all, flags, append(slices.Clone(flags), "--rope", "--norm", "rms", "--window", "5"))
	}
	return all
}

// The loss and the gradients of rows with several texts equal those of each text alone, for every attention. A form
// that depends on where in its row a text begins gets a row for each text.
func TestPackedRowsAreTheTextsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "texts.jsonl")
	lines := `{"text": "ab ab ba"}` + "\n" + `{"text": "b"}` + "\n" + `{"text": "abba baab a"}` + "\n" +
		`{"text": "aab"}` + "\n"
	require.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
	file, err := text.OpenExamples(path)
	require.NoError(t, err)
	defer file.Close()
	lessons, err := text.NewLessons(t.Context(), text.LessonConfig{Tokenizer: text.ByteTokenizer{}, Ends: []int{0}})
	require.NoError(t, err)
	const T = 16
	shared := map[string]bool{}
	for _, flags := range packedForms() {
		c := settled(t, append([]string{"--model", "gpt", "--layers", "2", "--width", "12", "--heads", "3", "--context", "16",
			"--dropout", "0"}, flags...)...).Model
		blocks, ok := c.Blocks()
		require.True(t, ok)
		blocks.VocabSize = 128
		p := layers.NewParams(tensor.Float64, 3)
		m, err := layers.NewDecoder(p.Scope(""), blocks)
		require.NoError(t, err)
		shares := blocks.SharesRows()
		for _, flag := range flags {
			shared[flag] = shares
		}
		packed, err := text.NewPacked(t.Context(), file, lessons, text.PackConfig{Batch: 2, Context: T, Alone: !shares})
		require.NoError(t, err)
		if shares {
			require.Less(t, packed.Summary().Rows, 4)
		} else {
			require.Equal(t, 4, packed.Summary().Rows)
		}
		for range packed.Summary().Batches {
			batch, err := packed.Next()
			require.NoError(t, err)
			requireAlone(t, flags, p, m, batch, text.PackedLoss(m.PackedLoss))
		}
		if shares {
			continue
		}
		b := layers.NewBuild(p, layers.Train)
		ids, segments := b.InputOf(tensor.Int, "ids", 2, T), b.InputOf(tensor.Int, "segments", 2, T)
		_, err = m.PackedLoss(b, ids, ids, layers.Packing{Segments: segments, Positions: segments})
		require.EqualError(t, err, "layers: Decoder: segments: got rows that texts share, want rows of their own: the "+
			"attention of a text would depend on where in its row it begins")
	}
	for _, form := range Forms() {
		_, linear := layers.LinearAttentionOf(form)
		require.Equal(t, linear != nil && form != "moba", shared[form], form)
	}
}

// requireAlone compares a loss on a batch, and its gradients, with those of each text in a graph of its own.
func requireAlone(t *testing.T, flags []string, p *layers.Params, m *layers.Decoder, batch train.Batch,
	loss layers.Formula,
) {
	t.Helper()
	got := lossAndGradients(t, p, batch.Inputs, loss)
	want, all := make([]float64, len(got)), 0
	ids, targets := batch.Inputs[text.Inputs].Ints(), batch.Inputs[text.Targets].Ints()
	T := batch.Inputs[text.Inputs].Shape()[1]
	for from := 0; from < len(ids); {
		to := from + 1
		for to%T != 0 && (batch.Inputs[text.Segments] == nil ||
			batch.Inputs[text.Segments].Ints()[to] == batch.Inputs[text.Segments].Ints()[from]) {
			to++
		}
		n := 0
		for _, target := range targets[from:to] {
			if target != graph.IgnoreTarget {
				n++
			}
		}
		if n > 0 {
			for to > from && targets[to-1] == graph.IgnoreTarget { // the text's end, and what follows it in its row
				to--
			}
			row := func(of []int) *tensor.Dense {
				return tensor.New(tensor.WithShape(1, to-from), tensor.WithBacking(slices.Clone(of[from:to])))
			}
			alone := train.Values{text.Inputs: row(ids), text.Targets: row(targets)}
			one := lossAndGradients(t, p, alone, text.TokenLoss(m.Loss))
			for i, v := range one {
				want[i] += float64(n) * v
			}
			all += n
		}
		for to%T != 0 && targets[to] == graph.IgnoreTarget {
			to++
		}
		from = to
	}
	require.Equal(t, batch.Tokens, all)
	for i := range want {
		want[i] /= float64(all)
	}
	golden.Close(t, strings.Join(flags, " "), want, got, 1e-10, 1e-10)
}

// lossAndGradients returns a loss and its gradients by all parameters, one after the other.
func lossAndGradients(t *testing.T, p *layers.Params, in train.Values, loss layers.Formula) (all []float64) {
	t.Helper()
	b := layers.NewBuild(p, layers.Train)
	l := loss(b, b.InputsOf(in))[0]
	require.NoError(t, b.Err())
	grads, err := G.Grad(l, b.Learnables()...)
	require.NoError(t, err)
	for name, n := range b.Inputs() {
		require.NoError(t, G.Let(n, in[name]))
	}
	vm, err := machine.New(append(G.Nodes{l}, grads...)...)
	require.NoError(t, err)
	require.NoError(t, vm.RunAll())
	all = []float64{l.Value().Data().(float64)}
	for _, n := range grads {
		all = append(all, golden.Floats(t, n.Value())...)
	}
	return all
}
