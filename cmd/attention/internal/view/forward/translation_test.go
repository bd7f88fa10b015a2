package forward

import (
	"context"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/tasks/dates"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// datesRun writes the folder of a run of attention translate. With large weights even small differences between dates
// matter.
func datesRun(t testing.TB) (dir string, m *dates.Model) {
	return commandtest.DatesRun(t, dates.Config{EmbedDim: 6, NumHeads: 2, NumLayers: 2}, 3, 4)
}

// The layers for a pair have the library's weights, and the right roles and sequences. The translation is that of
// attention translate.
func TestPairs(t *testing.T) {
	const written = "3 sep '75"
	dir, m := datesRun(t)
	translator, err := m.NewTranslator()
	require.NoError(t, err)
	all, err := translator.TranslateAll(t.Context(),
		&dates.ListedPairs{Pairs: []dates.Pair{{Written: written, ISO: "0000-00-00"}}, Out: dates.NewBatch(m.Alphabets, 3)})
	require.NoError(t, err)
	iso := all[0]

	model, err := Open(dir)
	require.NoError(t, err)
	got, err := model.Forward(t.Context(), Request{Text: "3 Sep '75\n"})
	require.NoError(t, err)
	require.Len(t, got.Sequences, 3)
	require.Equal(t, written, texts(got.Sequences[dateRead].Tokens))
	require.Equal(t, "<begin>"+iso[:9], texts(got.Sequences[isoRead].Tokens))
	require.Equal(t, iso, texts(got.Sequences[isoToWrite].Tokens))
	require.Len(t, got.Next, 10)
	for i, next := range got.Next {
		require.Equal(t, iso[i:i+1], next[0].Text, "the likeliest one is written")
	}

	weights := weightsOfPair(t, m, got)
	require.Len(t, got.Layers, 6)
	for i, place := range []place{{encoderRole, dateRead, dateRead}, {encoderRole, dateRead, dateRead},
		{decoderRole, isoRead, isoRead}, {crossRole, isoToWrite, dateRead},
		{decoderRole, isoRead, isoRead}, {crossRole, isoToWrite, dateRead}} {
		l := got.Layers[i]
		require.Equal(t, place, l.place, l.Path)
		require.Equal(t, []int{len(got.Sequences[place.Queries].Tokens), len(got.Sequences[place.Keys].Tokens)},
			[]int{l.T, l.S}, l.Path)
		for head := range l.Heads {
			want := weights[i][head*l.T*l.S:][:l.T*l.S]
			// Scores near 100 have errors of 1e-5 in float32.
			require.InDeltaSlice(t, want, headWeights(t, l, head), 1e-4, "%s, head %d", l.Path, head)
			summary, err := l.Summary(head)
			require.NoError(t, err)
			require.Equal(t, place.Role == crossRole, summary.Statistics.Self == nil, "a query of the one text has no place in the other")
		}
	}
}

// weightsOfPair returns the weights (H, T, S) of each layer that the library computes for the pair of a pass.
func weightsOfPair(t testing.TB, m *dates.Model, l *Pass) (all [][]float64) {
	b := layers.NewBuild(m.Params(), layers.Eval)
	ids := func(of int) (ids []int) {
		for _, token := range l.Sequences[of].Tokens {
			ids = append(ids, token.ID)
		}
		return ids
	}
	source := b.InputOf(tensor.Int, dates.SourceInput, len(ids(dateRead)))
	target := b.InputOf(tensor.Int, dates.TargetInput, dates.ISOLength)
	m.Logits(b, b.Inputs())
	var nodes G.Nodes
	for _, c := range b.Calls("*") {
		nodes = append(nodes, b.Of(c.Weights()))
	}
	require.NoError(t, b.Err())
	require.NoError(t, let(source, ids(dateRead)))
	require.NoError(t, let(target, ids(isoRead)))
	vm, err := machine.New(nodes...)
	require.NoError(t, err)
	require.NoError(t, vm.RunAll())
	for _, n := range nodes {
		all = append(all, golden.Floats(t, n.Value()))
	}
	return all
}

// A given beginning stays, and the model continues it. Hidden characters get no weight, and heads can be switched off.
func TestChangesOfPairs(t *testing.T) {
	dir, _ := datesRun(t)
	model, err := Open(dir)
	require.NoError(t, err)
	see := func(r Request) *Pass {
		l, err := model.Forward(t.Context(), r)
		require.NoError(t, err)
		return l
	}
	before := see(Request{Text: "3 sep '75"})
	whole := see(Request{Text: "3 sep '75\n1-2-3-4-5-"})
	require.Equal(t, "1-2-3-4-5-", texts(whole.Sequences[isoToWrite].Tokens))
	require.Equal(t, "<begin>1-2-3-4-5", texts(whole.Sequences[isoRead].Tokens))
	begun := see(Request{Text: "3 sep '75\n77"})
	require.Equal(t, "77", texts(begun.Sequences[isoToWrite].Tokens)[:2])
	require.Equal(t, before.Next[0], begun.Next[0], "the first character depends on the date alone")
	require.NotEqual(t, before.Next[2], begun.Next[2])

	hidden := see(Request{Text: "3 sep '75", Hide: []int{4, 9 + 2}})
	for _, l := range hidden.Layers {
		at := map[int]int{dateRead: 4, isoRead: 2}[l.Keys]
		for q := range l.T {
			require.Zero(t, headWeights(t, l, 0)[q*l.S+at], l.Path)
		}
	}
	require.NotEqual(t, before.Next, hidden.Next)
	off := see(Request{Text: "3 sep '75", Heads: []Head{{Layer: 3, Head: 1}}})
	require.NotEqual(t, before.Next, off.Next)
}

func TestWrongPairs(t *testing.T) {
	dir, _ := datesRun(t)
	model, err := Open(dir)
	require.NoError(t, err)
	for _, c := range []struct {
		reason, want string
		r            Request
	}{
		{reason: "no date", r: Request{}, want: "text: got a date of 0 characters, want 1 to 28"},
		{reason: "long", r: Request{Text: "wednesday, the 3rd of september"},
			want: "text: got a date of 31 characters, want 1 to 28"},
		{reason: "not of the alphabet", r: Request{Text: "3 märz"}, want: "text: got 'ä' at position 3"},
		{reason: "three lines", r: Request{Text: "1.2.3\n2\n3"}, want: "text: got 3 lines, want a date and,"},
		{reason: "a beginning that is too long", r: Request{Text: "1.2.3\n2003-02-011"},
			want: "text: second line: got 11 characters, want at most 10"},
		{reason: "a beginning of other characters", r: Request{Text: "1.2.3\nx"}, want: "text: second line: text: got 'x'"},
		{reason: "more than both texts", r: Request{Text: "1.2.3", Hide: []int{15}},
			want: "hide: got position 15, want 0 to 14"},
		{reason: "more than the layers", r: Request{Text: "1.2.3", Heads: []Head{{Layer: 6}}},
			want: "heads: got head 0 of layer 6"},
	} {
		_, err := model.Forward(context.Background(), c.r)
		require.ErrorContains(t, err, c.want, c.reason)
	}
}
