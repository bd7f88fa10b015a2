package finetune

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/view/live"
	"attention/train/metrics"
	"attention/train/parallel"

	"github.com/stretchr/testify/require"
)

// tuneTogether executes attention finetune in several processes that are goroutines, with flags by rank, and returns
// the output and the error of each.
func tuneTogether(t *testing.T, size int, flags func(rank int) []string) (texts []string, errs []error) {
	group, err := parallel.NewLocal(size)
	require.NoError(t, err)
	printed := make([]bytes.Buffer, size)
	errs = make([]error, size)
	var running sync.WaitGroup
	for rank, g := range group {
		cmd := New()
		require.NoError(t, cmd.Flags().Parse(flags(rank)))
		running.Go(func() {
			c := live.Command{Processes: session.Processes{Group: g}, Out: &printed[rank], Notes: io.Discard,
				Flags: cmd.Flags(), Page: new(live.Page)}
			errs[rank] = c.Do(t.Context(), execute)
		})
	}
	running.Wait()
	for rank := range printed {
		texts = append(texts, printed[rank].String())
	}
	return texts, errs
}

// requireSameRun compares the losses and the adapters of two runs.
func requireSameRun(t *testing.T, want, got string) {
	wanted, err := metrics.Read(want)
	require.NoError(t, err)
	found, err := metrics.Read(got)
	require.NoError(t, err)
	require.Len(t, found.Steps, len(wanted.Steps))
	for i, s := range wanted.Steps {
		require.Equal(t, s.Loss, found.Steps[i].Loss, i)
	}
	require.Equal(t, wanted.Evaluations, found.Evaluations)
	model, err := os.ReadFile(filepath.Join(want, settings.ModelFile))
	require.NoError(t, err)
	other, err := os.ReadFile(filepath.Join(got, settings.ModelFile))
	require.NoError(t, err)
	require.Equal(t, model, other)
}

// A run of several processes has the bits of a run of one process: its rows are divided among them, and another number
// of processes can resume it.
func TestProcessesTuneTheSameRun(t *testing.T) {
	_, flags := files(t, "--steps", "6", "--eval-every", "3", "--lora-dropout", "0.1", "--accumulate", "3")
	flags = slices.Clip(flags)
	alone, shared := filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "shared")
	_, err := tune(t, append(flags, "--out", alone)...)
	require.NoError(t, err)
	said, errs := tuneTogether(t, 2, func(int) []string {
		return append(flags, "--out", shared, "--save-every", "4", "--keep", "9")
	})
	require.Equal(t, []error{nil, nil}, errs)
	require.Contains(t, said[0], "\nprocesses ")
	require.Contains(t, said[0], "MB a step, ")
	require.Empty(t, said[1])
	requireSameRun(t, alone, shared)

	said, errs = tuneTogether(t, 3, func(int) []string {
		return []string{"--resume", filepath.Join(shared, "checkpoints", "step-00000004.safetensors")}
	})
	require.Equal(t, []error{nil, nil, nil}, errs)
	require.Contains(t, said[0], "continues after 4 steps")
	requireSameRun(t, alone, shared)
	_, errs = tuneTogether(t, 4, func(int) []string { return []string{"--resume", shared} })
	require.ErrorContains(t, errs[0], "--resume: got 4 processes for a run with --accumulate 3, want at most 3")
}

// If one process refuses to run, all do, before a folder is made.
func TestProcessesRefuse(t *testing.T) {
	_, flags := files(t, "--steps", "6", "--accumulate", "2")
	flags = slices.Clip(flags)
	for want, more := range map[string][2][]string{
		"--accumulate: got 1 with 2 processes, want at least 2": {{"--accumulate", "1"}, {"--accumulate", "1"}},
		"rank 1: --data: ":                     {nil, {"--data", filepath.Join(t.TempDir(), "none.jsonl")}},
		"rank 1: got another training.seed":    {nil, {"--seed", "2"}},
		"rank 1: got another task than rank 0": {nil, {"--resume", "x"}},
	} {
		out := filepath.Join(t.TempDir(), "run")
		said, errs := tuneTogether(t, 2, func(rank int) []string {
			if rank == 1 && len(more[1]) > 0 && more[1][0] == "--resume" {
				return more[1]
			}
			return append(append(flags, "--out", out), more[rank]...)
		})
		require.ErrorContains(t, errs[0], want)
		require.Error(t, errs[1])
		require.Equal(t, []string{"", ""}, said)
		require.NoDirExists(t, out)
	}
}
