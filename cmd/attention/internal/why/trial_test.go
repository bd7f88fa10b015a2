package why

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"attention/cmd/attention/internal/term"

	"github.com/stretchr/testify/require"
)

// Trials report in their order, whichever ends first.
func TestTrialsReportInOrder(t *testing.T) {
	var printed bytes.Buffer
	second := make(chan bool)
	if workers() < 2 {
		close(second)
	}
	all := &trials{bar: term.NewProgress(&printed, 4)}
	err := all.run(t.Context(), 4, func(_ context.Context, i int) (report func(), err error) {
		if i == 0 {
			<-second // as far as there are two processors
		} else if i == 1 && workers() > 1 {
			close(second)
		}
		return func() { fmt.Fprintf(&printed, "trial %d\n", i) }, nil
	})
	require.NoError(t, err)
	require.Equal(t, "trial 0\ntrial 1\ntrial 2\ntrial 3\n", printed.String())
}

// The first error ends all trials, and is the error of all.
func TestTrialsEndWithTheFirstError(t *testing.T) {
	wrong := errors.New("wrong")
	all := &trials{bar: term.NewProgress(&bytes.Buffer{}, 6)}
	err := all.run(t.Context(), 6, func(ctx context.Context, i int) (report func(), err error) {
		if i == 1 || workers() < 2 {
			return nil, wrong
		}
		<-ctx.Done()
		return func() { t.Error("a trial reports after an error") }, ctx.Err()
	})
	require.Equal(t, wrong, err)
}
