package encoders_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/train"
	"attention/train/encoders"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// small returns the small encoder of testdata, of width 8 and 24 positions, without dropout.
func small(t testing.TB) *pretrained.Encoder {
	from, err := golden.Path("encoders", "bert")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
	config, err := os.ReadFile(filepath.Join(dir, "config.json"))
	require.NoError(t, err)
	config = bytes.ReplaceAll(config, []byte(`_prob": 0.1`), []byte(`_prob": 0.0`))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), config, 0o644))
	e, err := pretrained.OpenEncoder(dir)
	require.NoError(t, err)
	return e
}

// pairs returns n examples of two texts of 1 to 9 words, with anchors that come again every few examples.
func pairs(n, anchors int) (all encoders.List) {
	for i := range n {
		all = append(all, text.Example{Texts: []string{fmt.Sprint("hello ", i%anchors),
			strings.Repeat("the ", 1+(i*7)%9) + fmt.Sprint(i)}})
	}
	return all
}

// epoch returns the batches of an epoch of a source.
func epoch(t testing.TB, s train.Source) (all []train.Batch) {
	for {
		b, err := s.Next()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, b)
	}
}

// rowsOf returns the tokens of text k of each example of a batch, without padding.
func rowsOf(b train.Batch, k int) (rows [][]int) {
	ids, lengths := b.Inputs[encoders.IDs(k)], b.Inputs[encoders.Lengths(k)].Ints()
	width := ids.Shape()[1]
	for i, n := range lengths {
		rows = append(rows, ids.Ints()[i*width:i*width+n])
	}
	return rows
}

// A batch of pairs holds no text twice, since equal positives would be negatives of each other (sentence-transformers
// #3189, #2827, #608), and an epoch has each example once. With scores texts may come again.
func TestNoTextTwiceInABatch(t *testing.T) {
	e := small(t)
	for _, row := range []struct{ examples, anchors, batch, least, most int }{
		{100, 100, 8, 13, 13},    // 12 whole batches and one more
		{100, 10, 8, 13, 16},     // each anchor 10 times
		{100, 3, 8, 34, 34},      // no batch has more than 3
		{2000, 100, 4, 500, 510}, // several groups
		{5, 1, 4, 5, 5},
	} {
		all := pairs(row.examples, row.anchors)
		s, err := encoders.NewBatches(t.Context(), e, all,
			encoders.Config{Batch: row.batch, Shuffle: true, Once: true, Seed: 3})
		require.NoError(t, err)
		for range 2 {
			batches, seen := epoch(t, s), map[string]int{}
			require.GreaterOrEqual(t, len(batches), row.least, row)
			require.LessOrEqual(t, len(batches), row.most, row)
			for _, b := range batches {
				in := map[string]int{}
				first := rowsOf(b, 0)
				require.Equal(t, b.Tokens, len(first))
				require.LessOrEqual(t, len(first), row.batch)
				for i, ids := range append(first, rowsOf(b, 1)...) {
					in[fmt.Sprint(ids)]++
					require.Equal(t, 1, in[fmt.Sprint(ids)], row)
					if i >= len(first) {
						seen[fmt.Sprint(ids)]++
					}
				}
			}
			require.Len(t, seen, row.examples, "positives are different")
		}
	}
	scored := pairs(32, 1)
	for i := range scored {
		scored[i].Score = new(float64(i))
	}
	s, err := encoders.NewBatches(t.Context(), e, scored, encoders.Config{Batch: 8, Once: true})
	require.NoError(t, err)
	require.Len(t, epoch(t, s), 4)
}

// Texts of similar length share a batch: where lengths go from 3 to 11 tokens and a batch is padded to a multiple of 8,
// at least 9 of 10 places hold a token of a text that needs them. In the order of the examples it is half.
func TestPaddingIsSmall(t *testing.T) {
	e, all := small(t), encoders.List{}
	for i := range 512 {
		n := 1 + i*37%22
		all = append(all, text.Example{Texts: []string{strings.Repeat("the ", n), strings.Repeat("of ", n) + "hello"}})
	}
	for i := range all { // which makes them different
		all[i].Score = new(0.0)
	}
	s, err := encoders.NewBatches(t.Context(), e, all, encoders.Config{Batch: 16, Shuffle: true, Once: true})
	require.NoError(t, err)
	tokens, places := 0, 0
	for _, b := range epoch(t, s) {
		for k := range 2 {
			places += len(b.Inputs[encoders.IDs(k)].Ints())
			for _, n := range b.Inputs[encoders.Lengths(k)].Ints() {
				tokens += n
			}
		}
	}
	require.Equal(t, s.Summary().Tokens, tokens)
	require.Greater(t, s.Summary().Fill, 0.75)
	require.InDelta(t, s.Summary().Fill, float64(tokens)/float64(places), 1e-12)
}

// A source continues from its state with the same batches, also in the next epoch; a seed gives its own order.
func TestBatchesResume(t *testing.T) {
	e, all := small(t), pairs(50, 7)
	open := func(seed uint64) *encoders.Batches {
		s, err := encoders.NewBatches(t.Context(), e, all, encoders.Config{Batch: 6, Shuffle: true, Seed: seed})
		require.NoError(t, err)
		return s
	}
	next := func(s *encoders.Batches) string {
		b, err := s.Next()
		require.NoError(t, err)
		return fmt.Sprint(rowsOf(b, 0), rowsOf(b, 1))
	}
	whole, other := open(1), open(2)
	require.NotEqual(t, next(open(1)), next(other))
	for range 25 {
		state := whole.State()
		again := open(1)
		require.NoError(t, again.SetState(state))
		require.Equal(t, next(whole), next(again))
	}
	require.ErrorContains(t, whole.SetState([]byte("x")), "got 1 bytes, want 16")
	require.ErrorContains(t, whole.SetState(append(make([]byte, 15), 51)), "got batch 51 of ")
}

// lossOf returns the loss of an encoder on batches, in Eval mode.
func lossOf(t testing.TB, e *pretrained.Encoder, v train.Values) float64 {
	loss, err := encoders.Loss(e)
	require.NoError(t, err)
	b := layers.NewBuild(e.Params, layers.Eval)
	out := loss(b, b.InputsOf(v))
	require.NoError(t, b.Err())
	for name, n := range b.Inputs() {
		require.NoError(t, G.Let(n, v[name]))
	}
	run, err := machine.New(out[0])
	require.NoError(t, err)
	require.NoError(t, run.RunAll())
	return out[0].Value().Data().(float64)
}

// Accumulating the gradients of two batches adds no negatives: the loss of a step of two batches of 4 pairs is the mean
// of theirs, and not that of the 8 pairs in one batch, which mini-batches have (sentence-transformers #2916).
func TestAccumulatingAddsNoNegatives(t *testing.T) {
	e, all := small(t), pairs(8, 8)
	open := func(batch int) *encoders.Batches {
		s, err := encoders.NewBatches(t.Context(), e, all, encoders.Config{Batch: batch})
		require.NoError(t, err)
		return s
	}
	loss, err := encoders.Loss(e)
	require.NoError(t, err)
	four, mean := open(4), 0.0
	for range 2 {
		b, err := four.Next()
		require.NoError(t, err)
		mean += lossOf(t, e, b.Inputs) / 2
	}
	eight, err := open(8).Next()
	require.NoError(t, err)
	step, err := train.NewStepFunc(e.Params, loss, train.StepConfig{Accumulate: 2, Schedule: train.ConstantRate(0)})
	require.NoError(t, err)
	r, err := step.Take(open(4))
	require.NoError(t, err)
	require.InDelta(t, mean, r.Loss, 1e-9)
	require.Greater(t, lossOf(t, e, eight.Inputs), mean+0.3)
	cached := train.StepConfig{MiniBatchSize: 3, Schedule: train.ConstantRate(0)}
	step, err = train.NewStepFunc(e.Params, loss, cached)
	require.NoError(t, err)
	r, err = step.Take(open(8))
	require.NoError(t, err)
	require.InDelta(t, lossOf(t, e, eight.Inputs), r.Loss, 1e-9)
}

// Wrong examples are refused where they stand.
func TestWrongExamples(t *testing.T) {
	pair, triple := text.Example{Texts: []string{"a", "b"}}, text.Example{Texts: []string{"a", "b", "c"}}
	scored := text.Example{Texts: []string{"a", "b"}, Score: new(1.0)}
	nan := text.Example{Texts: []string{"a", "b"}, Score: new(0.0)}
	*nan.Score /= *nan.Score
	for _, row := range []struct {
		all  encoders.List
		want string
	}{
		{encoders.List{}, "encoders: batches: got no example, want at least one"},
		{encoders.List{pair, triple}, "encoders: example 2: got an anchor, a positive and a negative, want an anchor and a " +
			"positive as in the first example"},
		{encoders.List{scored, pair}, "encoders: example 2: got an anchor and a positive, want two texts and a score as in " +
			"the first example"},
		{encoders.List{{Text: "a"}}, "encoders: example 1: got no pair of texts, want an anchor and a positive, or two " +
			"sentences and a score"},
		{encoders.List{scored, nan}, "encoders: example 2: score: got NaN, want a finite number"},
		{encoders.List{{Texts: []string{"a"}}}, "encoders: example 1: got 1 texts, want two, or three without a score"},
	} {
		_, err := encoders.NewBatches(t.Context(), small(t), row.all, encoders.Config{Batch: 2})
		require.EqualError(t, err, row.want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := encoders.NewBatches(ctx, small(t), pairs(9, 9), encoders.Config{Batch: 2})
	require.ErrorIs(t, err, context.Canceled)
	_, err = encoders.NewBatches(t.Context(), small(t), pairs(9, 9), encoders.Config{})
	require.ErrorContains(t, err, "Batch: got 0, want at least 1")
}

// Of each text 15 % of the tokens are to be predicted, at least one, and no special token. 8 of 10 become [MASK], and a
// tenth stays. Held-out texts have the same masks in each epoch, others do not. [MASK], the share and the tenths are
// those of Devlin et al. 2019.
func TestMasks(t *testing.T) {
	e, all, words := small(t), encoders.List{}, "a b c d e f g h i j k l m n o p q r s t"
	for range 4000 {
		all = append(all, text.Example{Text: words}, text.Example{Text: "z"})
	}
	mask, ok := e.Tokenizer.ID("[MASK]")
	require.True(t, ok)
	for _, shuffle := range []bool{false, true} {
		s, err := encoders.NewBatches(t.Context(), e, all,
			encoders.Config{Batch: 10, Masked: true, Once: true, Shuffle: shuffle, Seed: 5})
		require.NoError(t, err)
		counts := map[string]int{}
		masks := [2]string{}
		for i := range masks {
			for _, b := range epoch(t, s) {
				rows, targets := b.Inputs[encoders.Rows].Ints(), b.Inputs[encoders.Targets].Ints()
				masks[i] += fmt.Sprint(rows)
				predicted := 0
				for j, target := range targets {
					if target == graph.IgnoreTarget {
						continue
					}
					require.False(t, e.Tokenizer.IsSpecial(target))
					predicted++
					switch b.Inputs[encoders.IDs(0)].Ints()[rows[j]] {
					case mask:
						counts["mask"]++
					case target:
						counts["same"]++
					default:
						counts["other"]++
					}
				}
				require.Equal(t, b.Tokens, predicted)
				require.Zero(t, len(rows)%8)
			}
		}
		require.Equal(t, !shuffle, masks[0] == masks[1])
		n := 2 * 4000 * (3 + 1) // 15 % of 20 tokens, and the one of a text of one
		require.Equal(t, n, counts["mask"]+counts["same"]+counts["other"])
		require.InDelta(t, 0.8, float64(counts["mask"])/float64(n), 0.01)
		require.InDelta(t, 0.1, float64(counts["same"])/float64(n), 0.01)
	}
}
