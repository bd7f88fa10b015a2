package metrics

import (
	"os"
	"path/filepath"
	"testing"

	"attention/train"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
)

// If the file is removed or truncated during the run, all its lines are written again, and Close reports it.
func TestMend(t *testing.T) {
	for _, row := range []struct {
		reason string
		spoil  func(path string) error
		want   string
	}{
		{reason: "nothing", spoil: func(string) error { return nil }},
		{reason: "removed", spoil: os.Remove, want: "got none or another file, want the one that the run writes: "},
		{reason: "cut", spoil: func(path string) error { return os.Truncate(path, 100) },
			want: ": it was changed during the run, and is written anew"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, FileName)
		w, err := Begin(enter(t, dir))
		require.NoError(t, err)
		var h History
		step := func(n int) {
			s := train.StepResult{Step: n, Loss: 1 / float64(n+2), LearningRate: 1e-3, GradNorm: 3, TokensPerSecond: 1e9 / 7}
			h.Steps = append(h.Steps, s)
			w.AddStep(s)
		}
		evaluate := func(n, batches int) {
			e := loop.Evaluation{Step: n, Loss: 2.5}
			h.Evaluations = append(h.Evaluations, e)
			w.AddEvaluation(e, batches)
		}
		evaluate(0, 7)
		step(1)
		evaluate(1, 7)
		evaluate(1, 0)
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, row.spoil(path))
		step(2)
		w.Mend(h, 7)
		require.NoError(t, w.Flush(), row.reason)
		step(3)
		if err := w.Close(); row.want == "" {
			require.NoError(t, err, row.reason)
		} else {
			require.ErrorContains(t, err, "train: metrics: "+path+": got ", row.reason)
			require.ErrorContains(t, err, row.want, row.reason)
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got[:len(want)]), row.reason)
		read, err := Read(dir)
		require.NoError(t, err)
		require.Equal(t, h, read, row.reason)
	}
}
