package metrics

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/folder"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
)

// enter makes a folder the working folder until the end of the test.
func enter(t *testing.T, path string) *folder.Dir {
	dir, err := folder.Enter(path)
	require.NoError(t, err)
	t.Cleanup(func() { dir.Close() })
	return dir
}

// TestMetricsAreCutWhereTheCheckpointStands: lines after the checkpoint are removed.
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
		path := filepath.Join(dir, FileName)
		require.NoError(t, os.WriteFile(path, []byte(lines), 0o644))
		w, h, err := Resume(enter(t, dir), c.steps, c.evaluated, "")
		require.NoError(t, err)
		require.Equal(t, c.evaluated, h.evaluated())
		require.Len(t, h.Steps, c.steps)
		if c.steps == 3 {
			require.Equal(t, train.StepResult{Step: 3, Loss: 2, LearningRate: 0.125, GradNorm: 5, TokensPerSecond: 9},
				h.Steps[2])
			require.Equal(t, loop.Evaluation{Step: 2, Loss: 1.5}, h.Evaluations[0])
		}
		w.add("more")
		require.NoError(t, w.Close())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, lines[:ends[c.kept]]+"\"more\"\n", string(text))
	}
	for _, c := range []struct {
		steps, evaluated int
		want             string
	}{
		{steps: 4, evaluated: 3, want: `line 6: got "", want the lines of 4 steps, of which there are 3`},
		{steps: 1, evaluated: 1, want: `line 2: got "{\"step\":2,`},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte(lines), 0o644))
		_, _, err := Resume(enter(t, dir), c.steps, c.evaluated, "")
		require.ErrorContains(t, err, filepath.Join(dir, FileName)+": "+c.want)
		_, _, err = Resume(enter(t, t.TempDir()), c.steps, c.evaluated, "")
		require.ErrorContains(t, err, FileName+": got none, want the lines of ")
		empty := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(empty, FileName), nil, 0o644))
		_, _, err = Resume(enter(t, empty), c.steps, c.evaluated, "")
		require.ErrorContains(t, err, `line 1: got ""`)
	}
}

func TestRead(t *testing.T) {
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
			require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte(row.text), 0o644))
		}
		h, err := Read(dir)
		require.NoError(t, err, row.reason)
		require.Len(t, h.Steps, row.want, row.reason)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte("learning_rate\n"), 0o644))
	_, err := Read(dir)
	require.EqualError(t, err, filepath.Join(dir, FileName)+
		`: line 1: got "learning_rate\n", want a JSON object of numbers`)
}

// A file with too many evaluations is not a run's file, and a line that is too long is not a line of one.
func TestHostileMetrics(t *testing.T) {
	for want, text := range map[string]string{
		"line 1: got more than 65536 bytes, want a shorter line": strings.Repeat(" ", 1<<16) + "\n",
		"line 3: got ": strings.Repeat(`{"step":0,"validation_loss":1}`+"\n", 100),
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o644))
		_, _, err := Resume(enter(t, dir), 1, 0, "")
		require.ErrorContains(t, err, filepath.Join(dir, FileName)+": "+want)
	}
}

// The digest covers all numbers that equal runs share, and a file that was changed from outside stays unchanged.
func TestChangedMetricsAreNoticed(t *testing.T) {
	const lines = `{"step":1,"loss":2.5,"learning_rate":0.5,"grad_norm":3,"tokens_per_second":7}
{"step":1,"validation_loss":1.5}
`
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	resume := func(text, digest string) (History, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, h, err := Resume(enter(t, dir), 1, 1, digest)
		return h, err
	}
	h, err := resume(lines, "")
	require.NoError(t, err)
	digest := h.Digest()
	for _, row := range []struct {
		old, new string
		noticed  bool
	}{
		{old: "2.5", new: "2.51", noticed: true},
		{old: "0.5", new: "0.6", noticed: true},
		{old: `"grad_norm":3`, new: `"grad_norm":4`, noticed: true},
		{old: "1.5", new: "1.4", noticed: true},
		{old: `second":7`, new: `second":8`}, // the speed of the machine
		{old: "2.5", new: "2.50"},
	} {
		text := strings.Replace(lines, row.old, row.new, 1)
		require.NotEqual(t, lines, text)
		_, err := resume(text+"more", digest)
		if !row.noticed {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, checkpoint.ErrDamaged)
		require.ErrorContains(t, err, path+": damaged: the lines of the first 1 steps: got numbers with SHA-256 ")
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text+"more", string(after))
	}
}

// At its end a run reports that its metrics file was removed.
func TestRemovedMetricsAreSaid(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	w, err := Begin(enter(t, dir))
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	require.NoError(t, w.Flush(), "the checkpoint is saved all the same")
	require.EqualError(t, w.Close(), "train: metrics: "+path+": got none or another file, "+
		"want the one that the run writes: it was removed or replaced during the run")
}

// TestMetricsKeepTheFirstError: Flush and Close return it.
func TestMetricsKeepTheFirstError(t *testing.T) {
	w, err := Begin(enter(t, t.TempDir()))
	require.NoError(t, err)
	require.NoError(t, w.lines.Close())
	w.add(1)
	w.add(2)
	for _, err := range []error{w.Flush(), w.Close()} {
		require.ErrorIs(t, err, os.ErrClosed)
		require.ErrorContains(t, err, "train: metrics: write ")
	}
}
