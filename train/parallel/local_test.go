package parallel_test

import (
	"errors"
	"sync"
	"testing"

	"attention/train/parallel"

	"github.com/stretchr/testify/require"
)

// Messages arrive in order, complete, and from the right sender; the sender may change the bytes at once.
func TestLocalExchanges(t *testing.T) {
	const n, rounds = 5, 100
	group := must(parallel.NewLocal(n))
	var running sync.WaitGroup
	for rank, g := range group {
		running.Go(func() {
			defer g.Close() // so that the others do not wait for a failed process
			message, got := make([]byte, 3), make([]byte, 3)
			for i := range rounds {
				for d := 1; d < n; d++ {
					to, from := (rank+d)%n, (rank-d+n)%n
					copy(message, []byte{byte(rank), byte(to), byte(i)})
					if err := g.Exchange(to, message, from, got); err != nil {
						t.Error(err)
						return
					}
					clear(message)
					if want := []byte{byte(from), byte(rank), byte(i)}; string(want) != string(got) {
						t.Errorf("got %v, want %v", got, want)
					}
				}
			}
		})
	}
	running.Wait()
}

// An empty slice is no message, and a message of unexpected length is refused.
func TestLocalMessages(t *testing.T) {
	group := must(parallel.NewLocal(2))
	require.NoError(t, group[0].Exchange(1, nil, 1, nil))
	require.NoError(t, group[0].Exchange(1, []byte{1, 2}, 1, nil))
	require.EqualError(t, group[1].Exchange(0, nil, 0, make([]byte, 3)),
		"parallel: exchange: got 2 bytes of rank 0, want 3: the two do not do the same")
	group[1].Abort(errors.New("enough"))
	group[0].Abort(errors.New("too late"))
	require.EqualError(t, group[0].Exchange(1, nil, 1, make([]byte, 1)), "parallel: rank 1 ended the group: enough")
}

// Processes that wait for one that has left get its last message and then an error.
func TestLocalLeaves(t *testing.T) {
	group := must(parallel.NewLocal(3))
	require.NoError(t, group[1].Exchange(0, []byte{7}, 0, nil))
	waits := make(chan error)
	go func() { waits <- group[2].Exchange(1, nil, 1, make([]byte, 1)) }()
	require.NoError(t, group[1].Close())
	require.NoError(t, group[1].Close(), "again")
	got := make([]byte, 1)
	require.NoError(t, group[0].Exchange(1, nil, 1, got))
	require.Equal(t, []byte{7}, got)
	const left = "parallel: rank 1 has left the group, want it to go on"
	require.EqualError(t, <-waits, left)
	require.EqualError(t, group[0].Exchange(1, nil, 1, got), left)
	require.NoError(t, group[0].Exchange(2, []byte{1}, 2, nil), "the others go on")
	require.NoError(t, group[2].Exchange(0, nil, 0, got))
	require.ErrorContains(t, group[2].Agree(nil), left)
	require.ErrorContains(t, group[0].Agree(nil), left)
}

// If a process ends the group and leaves, the others report its reason, not that it has left.
func TestLocalAborts(t *testing.T) {
	group := must(parallel.NewLocal(2))
	group[1].Abort(errors.New("enough"))
	require.NoError(t, group[1].Close())
	for range 30 {
		for _, message := range [][2][]byte{{nil, make([]byte, 1)}, {{1}, nil}} {
			err := group[0].Exchange(1, message[0], 1, message[1])
			require.EqualError(t, err, "parallel: rank 1 ended the group: enough")
		}
	}
}
