package train_test

import (
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"attention/graph"
	"attention/train"
)

// Every id is asked for in its order, round after round, whatever part of a batch or
// a window the text's end falls in.
func TestConsecutiveGoesRound(t *testing.T) {
	const batch, context, batches = 3, 5, 40
	for n := context + 1; n < 50; n++ {
		c, err := train.NewConsecutive(countingIDs(n), train.SequentialConfig{Batch: batch, Context: context})
		require.NoError(t, err)
		for i := range batches {
			b, err := c.Next()
			require.NoError(t, err)
			require.Equal(t, batch*context, b.Tokens)
			inputs, targets := copies(b)
			for j := range inputs {
				at := i*batch*context + j
				require.Equal(t, at%n, inputs[j])
				require.Equal(t, (at+1)%n, targets[j])
			}
		}
	}
}

func TestConsecutiveLastOnly(t *testing.T) {
	const n, batch, context = 23, 3, 5
	c, err := train.NewConsecutive(countingIDs(n), train.SequentialConfig{Batch: batch, Context: context, LastOnly: true})
	require.NoError(t, err)
	for i := range 20 {
		b, err := c.Next()
		require.NoError(t, err)
		require.Equal(t, batch, b.Tokens)
		_, targets := copies(b)
		for j, target := range targets {
			if j%context == context-1 {
				require.Equal(t, (i*batch*context+j+1)%n, target)
			} else {
				require.Equal(t, graph.IgnoreTarget, target)
			}
		}
	}
}

// resumables are one source of each kind over the same text.
func resumables(t *testing.T, n int) map[string]train.Resumable {
	ids := countingIDs(n)
	random, err := train.NewWindows(ids, train.WindowsConfig{Batch: 3, Context: 5, Seed: 4})
	require.NoError(t, err)
	once, err := train.NewSequential(ids, train.SequentialConfig{Batch: 3, Context: 5})
	require.NoError(t, err)
	round, err := train.NewConsecutive(ids, train.SequentialConfig{Batch: 3, Context: 5})
	require.NoError(t, err)
	return map[string]train.Resumable{"windows": random, "sequential": once, "consecutive": round}
}

// A source goes on from where another stood after any number of batches, also where
// a Sequential ends.
func TestSourcesResume(t *testing.T) {
	for name, source := range resumables(t, 52) {
		for range 12 {
			state := source.State()
			twin := resumables(t, 52)[name]
			for range 3 { // has gone elsewhere before
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
			require.Equal(t, name == "sequential", ended != nil)
			require.NoError(t, source.SetState(state))
			if _, err := source.Next(); name != "sequential" {
				require.NoError(t, err)
			}
		}
	}
}

func TestSourcesRefuseAnothersState(t *testing.T) {
	at := func(position uint64) []byte { return binary.BigEndian.AppendUint64(nil, position) }
	const which = ", want one below "
	for name, wrong := range map[string]map[string][]byte{
		"windows": {"train: windows: state of 8 bytes: ": at(1), "train: windows: state of 0 bytes: ": nil},
		"sequential": {
			"train: state of a source: got 20 bytes, want 8":                      resumables(t, 52)["windows"].State(),
			"train: state of a source: got position 67" + which + "67":            at(67),
			"train: state of a source: got position 18446744073709551615" + which: at(1<<64 - 1),
		},
		"consecutive": {
			"train: state of a source: got 0 bytes, want 8":                                             nil,
			"train: state of a source: got position 52" + which + "52: was it another text?":            at(52),
			"train: state of a source: got position 9223372036854775808" + which + "52: was it another": at(1 << 63),
		},
	} {
		source := resumables(t, 52)[name]
		_, err := source.Next()
		require.NoError(t, err)
		before := source.State()
		for want, state := range wrong {
			require.ErrorContains(t, source.SetState(state), want, name)
			require.Equal(t, before, source.State(), "%s: %s", name, want)
		}
	}
}
