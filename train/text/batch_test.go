package text_test

import (
	"encoding/binary"
	"io"
	"testing"

	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

func countingIDs(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

// copies returns a batch's inputs and targets.
func copies(b train.Batch) (inputs, targets []int) {
	return append([]int{}, b.Inputs[text.Inputs].Ints()...), append([]int{}, b.Inputs[text.Targets].Ints()...)
}

// resumables returns one source of each kind over the same text.
func resumables(t *testing.T, n int) map[string]train.Resumable {
	ids := countingIDs(n)
	random, err := text.NewWindows(ids, text.WindowConfig{Batch: 3, Context: 5}, 4)
	require.NoError(t, err)
	once, err := text.NewEpoch(ids, text.WindowConfig{Batch: 3, Context: 5})
	require.NoError(t, err)
	round, err := text.NewCycle(ids, text.WindowConfig{Batch: 3, Context: 5})
	require.NoError(t, err)
	return map[string]train.Resumable{"windows": random, "epoch": once, "cycle": round}
}

// A source continues from the state of another source after any number of batches, even at the end of an Epoch.
func TestSourcesResume(t *testing.T) {
	for name, source := range resumables(t, 52) {
		for range 12 {
			state := source.State()
			twin := resumables(t, 52)[name]
			for range 3 { // first moves it elsewhere
				_, err := twin.Next()
				require.NoError(t, err)
			}
			require.NoError(t, twin.SetState(state))
			require.Equal(t, state, twin.State())
			var ended error
			for range 6 {
				want, err := source.Next()
				got, twinErr := twin.Next()
				require.Equal(t, err, twinErr)
				if err != nil {
					require.Equal(t, io.EOF, err)
					ended = err
					continue
				}
				require.Equal(t, want, got, name)
			}
			require.Equal(t, name == "epoch", ended != nil)
			require.NoError(t, source.SetState(state))
			if _, err := source.Next(); name != "epoch" {
				require.NoError(t, err)
			}
		}
	}
}

func TestSourcesRefuseAnothersState(t *testing.T) {
	at := func(position uint64) []byte { return binary.BigEndian.AppendUint64(nil, position) }
	for _, row := range []struct {
		source string
		state  []byte
		want   string
	}{
		{source: "windows", state: at(1), want: "text: windows: state of 8 bytes: "},
		{source: "windows", state: nil, want: "text: windows: state of 0 bytes: "},
		{source: "epoch", state: resumables(t, 52)["windows"].State(),
			want: "text: state of a source: got 20 bytes, want 8"},
		{source: "epoch", state: at(67), want: "text: state of a source: got position 67, want one below 67"},
		{source: "epoch", state: at(1<<64 - 1),
			want: "text: state of a source: got position 18446744073709551615, want one below "},
		{source: "cycle", state: nil, want: "text: state of a source: got 0 bytes, want 8"},
		{source: "cycle", state: at(52),
			want: "text: state of a source: got position 52, want one below 52: was it another text?"},
		{source: "cycle", state: at(1 << 63),
			want: "text: state of a source: got position 9223372036854775808, want one below 52: was it another"},
	} {
		source := resumables(t, 52)[row.source]
		_, err := source.Next()
		require.NoError(t, err)
		before := source.State()
		require.ErrorContains(t, source.SetState(row.state), row.want, row.source)
		require.Equal(t, before, source.State(), "%s: %s", row.source, row.want)
	}
}

func TestSourcesRefuse(t *testing.T) {
	for _, c := range []struct {
		ids, batch, context int
		want                string
	}{
		{ids: 10, batch: 0, context: 3, want: "text: Batch: got 0, want at least 1"},
		{ids: 10, batch: 1, context: 0, want: "text: Context: got 0, want at least 1"},
		{ids: 3, batch: 1, context: 3, want: "text: ids: got 3, want more than the context of 3"},
		{ids: 0, batch: 1, context: 3, want: "text: ids: got 0, want more than the context of 3"},
	} {
		_, err := text.NewWindows(countingIDs(c.ids), text.WindowConfig{Batch: c.batch, Context: c.context}, 0)
		require.EqualError(t, err, c.want)
		_, err = text.NewEpoch(countingIDs(c.ids), text.WindowConfig{Batch: c.batch, Context: c.context})
		require.EqualError(t, err, c.want)
		_, err = text.NewCycle(countingIDs(c.ids), text.WindowConfig{Batch: c.batch, Context: c.context})
		require.EqualError(t, err, c.want)
	}
	smallest, err := text.NewWindows(countingIDs(4), text.WindowConfig{Batch: 1, Context: 3}, 0)
	require.NoError(t, err)
	b, err := smallest.Next()
	require.NoError(t, err)
	inputs, targets := copies(b)
	require.Equal(t, []int{0, 1, 2}, inputs)
	require.Equal(t, []int{1, 2, 3}, targets)
}
