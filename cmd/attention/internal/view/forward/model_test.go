package forward

import (
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/run/models"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
)

// A checkpoint is a model: of a run that is not finished the same as the run's, and by its path the same as in the
// list.
func TestCheckpoints(t *testing.T) {
	for _, c := range []struct {
		run, text string
		steps     int
	}{{"gpt", "the", 2}, {"finished_gpt", "the", 12}, {"finished_layer", "the", 12}} {
		dir := filepath.Join("..", "..", "..", "..", "..", "testdata", "runs", c.run, "run")
		m, err := Open(dir)
		require.NoError(t, err, c.run)
		all := m.Checkpoints(models.Source{Dir: dir})
		require.Len(t, all, 1, c.run)
		require.Equal(t, "run, step "+map[int]string{2: "2", 12: "12"}[c.steps], all[0].Name)
		path := checkpoint.Path(filepath.Join(dir, "checkpoints"), c.steps)
		one, err := Open(path)
		require.NoError(t, err, c.run)
		require.Equal(t, all[0].Name, one.Name)
		require.Equal(t, m.Title, one.Title)
		require.Empty(t, one.Checkpoints(models.Source{Dir: path}))
		var next [][][]Candidate
		for _, x := range []*Model{m, all[0], one} {
			l, err := x.Forward(t.Context(), Request{Text: c.text})
			require.NoError(t, err, c.run)
			next = append(next, l.Next)
		}
		require.Equal(t, next[1], next[2], c.run)
		require.Equal(t, next[0], next[1], "%s: the weights are those of its last steps", c.run)
	}
	_, err := Open(filepath.Join("..", "..", "..", "..", "..", "testdata", "runs", "gpt", "run", "checkpoints", "x"))
	require.ErrorContains(t, err, "no such file")
}
