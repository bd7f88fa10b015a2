package train

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/view/live"
	"attention/train/metrics"
	"attention/train/parallel"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// trainTogether executes attention train in several processes, which are goroutines, with the flags of each rank. It
// returns the output and the error of each process.
func trainTogether(ctx context.Context, t *testing.T, size int, flags func(rank int) []string) ([]string, []error) {
	group, err := parallel.NewLocal(size)
	require.NoError(t, err)
	printed, errs := make([]bytes.Buffer, size), make([]error, size)
	var running sync.WaitGroup
	for rank, g := range group {
		set := pflag.NewFlagSet("train", pflag.ContinueOnError)
		settings.AddFlags(set, settings.Train)
		require.NoError(t, set.Parse(flags(rank)))
		running.Go(func() {
			c := live.Command{Processes: session.Processes{Group: g}, Out: &printed[rank], Notes: io.Discard, Flags: set,
				Page: new(live.Page)}
			errs[rank] = c.Do(ctx, execute)
		})
	}
	running.Wait()
	texts := make([]string, size)
	for rank := range printed {
		texts[rank] = printed[rank].String()
	}
	return texts, errs
}

// sharedFlags are the flags of a small run with several batches a step.
func sharedFlags(folder string, more ...string) []string {
	return append([]string{"--out", folder, "--width", "8", "--heads", "2", "--layer", "multi_head", "--context", "8",
		"--batch", "2", "--accumulate", "4", "--steps", "9", "--dropout", "0.2", "--clip", "0.5", "--eval-every", "4",
		"--eval-batches", "3", "--best", "--save-every", "3", "--sample", "5"}, more...)
}

func everyRank(flags []string) func(int) []string { return func(int) []string { return flags } }

// A run of several processes writes the folder of a run of one process and prints its output once. Its windows grow.
func TestProcessesLeaveTheSameRun(t *testing.T) {
	alone, grows := filepath.Join(t.TempDir(), "run"), []string{"--context-growth", "2:2", "--context-growth", "4:3"}
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), sharedFlags(alone, grows...)...))
	for size := 1; size <= 4; size++ {
		folder := filepath.Join(t.TempDir(), "run")
		printed, errs := trainTogether(t.Context(), t, size, everyRank(sharedFlags(folder, grows...)))
		for rank, err := range errs {
			require.NoError(t, err, rank)
			require.Equal(t, rank == 0, printed[rank] != "")
		}
		require.Contains(t, printed[0], "\nprocesses ")
		requireSameOutcome(t, alone, folder)
	}
}

// A stopped run can be resumed with another number of processes.
func TestProcessesResumeTheSameRun(t *testing.T) {
	alone, folder := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), sharedFlags(alone, "--eval-every", "1")...))
	_, errs := trainTogether(t.Context(), t, 3, everyRank(
		sharedFlags(folder, "--eval-every", "1", "--steps", "5", "--decay-steps", "9")))
	require.NoError(t, errs[0])
	for _, next := range []struct {
		size  int
		steps string
	}{{4, "6"}, {2, "8"}, {3, "9"}} {
		_, errs := trainTogether(t.Context(), t, next.size, everyRank([]string{"--resume", folder, "--steps", next.steps}))
		for _, err := range errs {
			require.NoError(t, err)
		}
	}
	requireSameModel(t, alone, folder)
}

func requireSameModel(t *testing.T, want, got string) {
	require.Equal(t, outcome(t, want)[metrics.FileName], outcome(t, got)[metrics.FileName])
	wanted, err := os.ReadFile(filepath.Join(want, settings.ModelFile))
	require.NoError(t, err)
	found, err := os.ReadFile(filepath.Join(got, settings.ModelFile))
	require.NoError(t, err)
	require.True(t, bytes.Equal(wanted, found))
}

// If one process refuses a flag or file, all processes end before a folder is made, with one line.
func TestProcessesRefuse(t *testing.T) {
	text, other := filepath.Join(t.TempDir(), "text"), filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, bytes.Repeat([]byte("abcdefgh "), 100), 0o644))
	require.NoError(t, os.WriteFile(other, bytes.Repeat([]byte("abcdefgi "), 100), 0o644))
	for _, row := range []struct {
		name  string
		flags func(rank int) []string // beside sharedFlags
		want  string
	}{
		{"few batches", everyRank([]string{"--accumulate", "1"}),
			"--accumulate: got 1 with 2 processes, want at least 2: they share the batches of a step"},
		{"standard input", everyRank([]string{"--text", "-"}),
			"--text: got - with 2 processes, want a file: only one has the standard input"},
		{"one without its text", func(rank int) []string { return []string{"--text", []string{text, text + "x"}[rank]} },
			"rank 1: --text: " + text + "x: no such file or directory, want a text file"},
		{"texts", func(rank int) []string { return []string{"--text", []string{text, other}[rank]} },
			`train: group: rank 1: got another text than rank 0, "900 bytes, SHA-256 `},
		{"seeds", func(rank int) []string { return []string{"--seed", []string{"1", "2"}[rank]} },
			`train: group: rank 1: got another training.seed than rank 0, "2", want its "1"`},
		{"steps", func(rank int) []string { return []string{"--steps", []string{"9", "8"}[rank], "--decay-steps", "9"} },
			`train: group: rank 1: got another config than rank 0, "{`},
		{"flags", everyRank([]string{"--heads", "3"}), "--heads: got 3, want a divisor of --width=8"},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "run")
			printed, errs := trainTogether(t.Context(), t, 2, func(rank int) []string {
				return sharedFlags(folder, row.flags(rank)...)
			})
			require.ErrorContains(t, errs[0], row.want)
			require.Error(t, errs[1])
			require.Equal(t, []string{"", ""}, printed)
			require.NoDirExists(t, folder)
		})
	}
}

// A run with fewer batches per step than processes can be resumed only by fewer processes.
func TestProcessesRefuseToResume(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), sharedFlags(folder, "--accumulate", "2")...))
	_, errs := trainTogether(t.Context(), t, 3, everyRank([]string{"--resume", folder, "--steps", "12"}))
	require.EqualError(t, errs[0], "--resume: got 3 processes for a run with --accumulate 2, want at most 2: "+
		"they share the batches of a step")
}

// If some processes begin a run and others resume one, all end at once, with a line that names both groups.
func TestProcessesRefuseOtherTasks(t *testing.T) {
	folder, old := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), sharedFlags(old)...))
	before := outcome(t, old)
	begins, resumes := sharedFlags(folder), []string{"--resume", old, "--steps", "12"}
	for _, row := range []struct {
		name  string
		flags [3][]string // by rank
		want  string
	}{
		{"one resumes", [3][]string{begins, resumes, begins},
			`train: group: rank 1: got another task than rank 0, "--resume of a run", want its "a new run"`},
		{"one begins", [3][]string{resumes, resumes, begins},
			`train: group: rank 2: got another task than rank 0, "a new run", want its "--resume of a run"`},
		{"the first begins", [3][]string{begins, resumes, resumes},
			`train: group: rank 1: got another task than rank 0, "--resume of a run", want its "a new run"`},
		{"one has other steps", [3][]string{resumes, {"--resume", old, "--steps", "3"}, resumes},
			"rank 1: --steps: got 3, want at least the 9 that the run has taken"},
	} {
		t.Run(row.name, func(t *testing.T) {
			printed, errs := trainTogether(t.Context(), t, 3, func(rank int) []string { return row.flags[rank] })
			require.EqualError(t, errs[0], row.want)
			require.Error(t, errs[1])
			require.Error(t, errs[2])
			require.Equal(t, []string{"", "", ""}, printed)
			require.NoDirExists(t, folder)
			require.Equal(t, before, outcome(t, old))
		})
	}
}
