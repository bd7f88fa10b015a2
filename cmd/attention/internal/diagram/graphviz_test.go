package diagram

import (
	"os/exec"
	"testing"

	_ "attention/internal/testenv"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

func TestGraphviz(t *testing.T) {
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skip("Graphviz is not installed")
	}
	graphs := rapid.Custom(func(t *rapid.T) [2]any {
		boxes, in := drawnGraph(t)
		return [2]any{boxes, in}
	})
	for seed := range 10 {
		drawn := graphs.Example(seed)
		boxes, in := drawn[0].([]vg.Point), drawn[1].([][]int)
		p, err := Graphviz(boxes, in)
		require.NoError(t, err)
		requirePlaced(t, p, boxes, in)
	}
}

// TestBestWithoutGraphviz: where dot is not, the layout is our own.
func TestBestWithoutGraphviz(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	boxes, in := []vg.Point{{X: 50, Y: 28}, {X: 50, Y: 28}}, [][]int{nil, {0}}
	_, err := Graphviz(boxes, in)
	require.ErrorIs(t, err, exec.ErrNotFound)
	want, err := Layered(boxes, in)
	require.NoError(t, err)
	got, err := Best(boxes, in)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestParsePlain(t *testing.T) {
	const good = "graph 1 2 3\nnode n0 1 2.5 1 0.4 \"\" solid box black lightgrey\n" +
		"node n1 1 0.5 1 0.4 \"\" solid box black lightgrey\nedge n0 n1 4 1 2.3 1 2 1 1 1 0.7 solid black\nstop\n"
	p, err := parsePlain([]byte(good), 2)
	require.NoError(t, err)
	require.Equal(t, Placed{Size: inches(2, 3), Centers: []vg.Point{inches(1, 2.5), inches(1, 0.5)},
		Lines: [][]vg.Point{{inches(1, 2.3), inches(1, 2), inches(1, 1), inches(1, 0.7)}}}, p)
	for _, text := range []string{
		"", "graph 1 2\n", "node n0 1\n", "node n2 1 1\n", "node -1 1 1\n", "edge n0 n1 4 1 2 3\n",
		"edge n0 n1\n", "graph 1 2 3\nnode n0 1 2\n"} {
		_, err := parsePlain([]byte(text), 2)
		require.Error(t, err, text)
	}
}
