package small

import (
	"sync"
	"testing"

	"attention/train/parallel"

	"github.com/stretchr/testify/require"
)

// Together runs f in every process of a group and returns their errors.
func Together(t *testing.T, size int, f func(g *parallel.Group) error) []error {
	group, err := parallel.NewLocal(size)
	require.NoError(t, err)
	errs := make([]error, size)
	var running sync.WaitGroup
	for i, g := range group {
		running.Go(func() {
			defer g.Close() // so that the others do not wait for one that has failed
			errs[i] = f(g)
		})
	}
	running.Wait()
	return errs
}

// RequireNone fails for the first error.
func RequireNone(t *testing.T, errs []error) {
	for rank, err := range errs {
		require.NoError(t, err, "rank %d", rank)
	}
}
