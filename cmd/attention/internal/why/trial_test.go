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

// Results are printed in the order of the seeds, whichever trial ends first.
func TestTrialsArePrintedInOrder(t *testing.T) {
	var printed bytes.Buffer
	second := make(chan bool)
	all := &trials{models: 2, seeds: 2, steps: 1,
		run: func(_ context.Context, _ *trials, model, seed int) error {
			if model == 0 && seed == 0 {
				<-second // as far as there are two processors
			} else if seed == 0 {
				close(second)
			}
			return nil
		},
		print: func(model, seed int) { fmt.Fprintf(&printed, "model %d seed %d\n", model, seed) }}
	if workers() < 2 {
		close(second)
	}
	_, err := all.all(t.Context(), term.NewOutput(&printed, "why"))
	require.NoError(t, err)
	require.Equal(t, "model 0 seed 0\nmodel 1 seed 0\nmodel 0 seed 1\nmodel 1 seed 1\n", printed.String())
}

// The first error ends all trials, and is the error of all.
func TestTrialsEndWithTheFirstError(t *testing.T) {
	wrong, printed := errors.New("wrong"), 0
	all := &trials{models: 2, seeds: 3, steps: 1,
		run: func(ctx context.Context, _ *trials, model, _ int) error {
			if model == 1 {
				return wrong
			}
			<-ctx.Done()
			return ctx.Err()
		},
		print: func(int, int) { printed++ }}
	if workers() < 2 {
		all.run = func(context.Context, *trials, int, int) error { return wrong }
	}
	_, err := all.all(t.Context(), term.NewOutput(&bytes.Buffer{}, "why"))
	require.Equal(t, wrong, err)
	require.Zero(t, printed)
}
