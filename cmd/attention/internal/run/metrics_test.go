package run

import (
	"os"
	"path/filepath"
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
)

// TestMetricsAreCutWhereTheCheckpointStands: later lines are removed.
func TestMetricsAreCutWhereTheCheckpointStands(t *testing.T) {
	const lines = `{"step":1,"loss":2.5,"learning_rate":0.5,"grad_norm":3,"tokens_per_second":7}
{"step":2,"loss":2.25,"learning_rate":0.25,"grad_norm":4,"tokens_per_second":8}
{"step":2,"validation_loss":1.5}
{"step":3,"loss":2,"learning_rate":0.125,"grad_norm":5,"tokens_per_second":9}
{"step":3,"validation_loss":1.25}
{"step":4,"lo`
	ends := []int{0}
	for i, b := range lines {
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	for _, c := range []struct{ steps, evaluated, kept int }{
		{steps: 0, evaluated: 0, kept: 0},
		{steps: 1, evaluated: 0, kept: 1},
		{steps: 2, evaluated: 0, kept: 2},
		{steps: 2, evaluated: 2, kept: 3},
		{steps: 3, evaluated: 2, kept: 4},
		{steps: 3, evaluated: 3, kept: 5},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, MetricsFile)
		require.NoError(t, os.WriteFile(path, []byte(lines), 0o644))
		m, h, err := ResumeMetrics(dir, c.steps, c.evaluated)
		require.NoError(t, err)
		require.Equal(t, c.evaluated, h.evaluated())
		require.Len(t, h.Steps, c.steps)
		if c.steps == 3 {
			require.Equal(t, train.StepResult{Step: 3, Loss: 2, LearningRate: 0.125, GradNorm: 5, TokensPerSecond: 9},
				h.Steps[2])
			require.Equal(t, train.Evaluation{Step: 2, Loss: 1.5}, h.Evaluations[0])
		}
		m.add("more")
		require.NoError(t, m.Close())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, lines[:ends[c.kept]]+"\"more\"\n", string(text))
	}
	for _, c := range []struct {
		steps, evaluated int
		want             string
	}{
		{steps: 4, evaluated: 3, want: `line 6: got "{\"step\":4,\"lo", want the lines of 4 steps, of which there are 3`},
		{steps: 1, evaluated: 1, want: `line 2: got "{\"step\":2,`},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, MetricsFile), []byte(lines), 0o644))
		_, _, err := ResumeMetrics(dir, c.steps, c.evaluated)
		require.ErrorContains(t, err, filepath.Join(dir, MetricsFile)+": "+c.want)
		_, _, err = ResumeMetrics(t.TempDir(), c.steps, c.evaluated)
		require.ErrorContains(t, err, `line 1: got ""`)
	}
}

func TestStepsTaken(t *testing.T) {
	const step = `{"step":1,"loss":2.5,"learning_rate":0.5,"grad_norm":3,"tokens_per_second":7}` + "\n"
	for _, row := range []struct {
		reason, text string
		want         int
	}{
		{reason: "no file", text: "", want: 0},
		{reason: "a step and an evaluation", text: step + `{"step":1,"validation_loss":1.5}` + "\n", want: 1},
		{reason: "a line that was cut", text: step + step + step[:20], want: 2},
	} {
		dir := t.TempDir()
		if row.text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, MetricsFile), []byte(row.text), 0o644))
		}
		n, err := StepsTaken(dir)
		require.NoError(t, err, row.reason)
		require.Equal(t, row.want, n, row.reason)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, MetricsFile), []byte("learning_rate"), 0o644))
	_, err := StepsTaken(dir)
	require.ErrorContains(t, err, filepath.Join(dir, MetricsFile)+": invalid character 'l'")
}

// TestMetricsKeepTheFirstError: Flush and Close return it.
func TestMetricsKeepTheFirstError(t *testing.T) {
	m, err := NewMetrics(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, m.file.Close())
	m.add(1)
	m.add(2)
	for _, err := range []error{m.Flush(), m.Close()} {
		require.ErrorIs(t, err, os.ErrClosed)
		require.ErrorContains(t, err, "train: metrics: write ")
	}
}
