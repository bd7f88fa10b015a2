package forward

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/run/models"
	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/train/checkpoint"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// layerOf returns a layer whose queries, keys and values are the rows of x.
func layerOf(t testing.TB, x []float32, width int, c graph.AttentionConfig) *Layer {
	t.Helper()
	n := G.NewMatrix(G.NewGraph(), tensor.Float32, G.WithShape(len(x)/width, width), G.WithName("x"),
		G.WithValue(tensor.New(tensor.WithShape(len(x)/width, width), tensor.WithBacking(x))))
	o := layers.AttentionOperands{ProjectedQuery: n, ProjectedKey: n, Query: n, Key: n, Value: n, Config: c}
	l := newLayer("", place{}, o)
	require.NoError(t, l.keep())
	return l
}

// An overview has the largest weight of each block. The test computes each weight separately.
func TestOverview(t *testing.T) {
	for _, size := range []int{1, 5, 1024, 1025, 2051} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			const width = 2
			x := make([]float32, size*width)
			for i := range x {
				x[i] = float32(math.Sin(float64(3 * i)))
			}
			l := layerOf(t, x, width, graph.AttentionConfig{Heads: 1, Scale: 2, Mask: mask.SlidingWindow{Left: 700}})
			o, err := l.Overview(0, 1024)
			require.NoError(t, err)
			level := map[int]int{1025: 1, 2051: 2}[size]
			side := (size + 1<<level - 1) >> level
			require.Equal(t, []int{level, side, side}, []int{o.Level, o.Rows, o.Cols})
			want := make([]float64, side*side)
			for i := range want {
				want[i] = math.NaN()
			}
			for i := range size {
				score := func(s int) float64 {
					return 2 * (float64(x[2*i])*float64(x[2*s]) + float64(x[2*i+1])*float64(x[2*s+1]))
				}
				sum := 0.0
				for s := max(0, i-700); s <= i; s++ {
					sum += math.Exp(score(s))
				}
				for s := max(0, i-700); s <= i; s++ {
					at := i>>level*side + s>>level
					if w := math.Exp(score(s)) / sum; math.IsNaN(want[at]) || w > want[at] {
						want[at] = w
					}
				}
			}
			for i, w := range want {
				if got := float64(o.Weights[i]); !(math.Abs(got-w) <= 1e-5) && !(math.IsNaN(w) && math.IsNaN(got)) {
					require.Equal(t, w, got, "block %d", i)
				}
			}
		})
	}
}

// A checkpoint can be opened as a model. The last checkpoint of an unfinished run equals the run's model, and a
// checkpoint opened by its path equals the one in the list.
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

// pieces is a tokenizer whose token i is the i-th text.
type pieces []string

func (p pieces) Len() int { return len(p) }

func (p pieces) Config() text.TokenizerConfig { return text.TokenizerConfig{} }

func (p pieces) Encode(string) ([]int, error) { return nil, nil }

func (p pieces) Decode(ids []int) (s string, err error) {
	for _, id := range ids {
		s += p[id]
	}
	return s, nil
}

// Tokens that together make a character have that character and their numbers in it. A part without the rest has its
// bytes.
func TestTokensOfOneCharacter(t *testing.T) {
	all := pieces{"a", "\xe6", "\x97", "\xa5", " \xe6", "\x9c\xac"}
	got, err := tokensOf(all, []int{1, 2, 3, 0, 4, 5, 1, 2, 0, 1})
	require.NoError(t, err)
	part := func(id int, text, of string, at int) Token { return Token{id, text, true, of, at} }
	require.Equal(t, []Token{
		part(1, `\xe6`, "日", 1), part(2, `\x97`, "日", 2), part(3, `\xa5`, "日", 3), {ID: 0, Text: "a"},
		part(4, ` \xe6`, " 本", 1), part(5, `\x9c\xac`, " 本", 2), part(1, `\xe6`, "", 0), part(2, `\x97`, "", 0),
		{ID: 0, Text: "a"}, part(1, `\xe6`, "", 0)}, got)
}
