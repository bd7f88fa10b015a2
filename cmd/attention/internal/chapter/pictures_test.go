package chapter

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/plot"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestChapterPictures: every requested section is drawn into the folder, a layer also as its graph, and the pictures'
// paths are printed.
func TestChapterPictures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "pictures")
	out, err := commandtest.Output(t.Context(), New(), "--pictures", dir, "--section", "^(self|a causal|dropout)",
		"--sentence", "größer als 1")
	require.NoError(t, err)
	want := []string{"05-steps.png", "05-graph.mmd", "06-steps.png", "06-graph.mmd", "08-steps.png", "09-steps.png",
		"10-steps.png"}
	for i, name := range want {
		want[i] = filepath.Join(dir, name)
		if filepath.Ext(name) == ".png" {
			require.Greater(t, readPicture(t, want[i]).Bounds().Dx(), 150)
		}
	}
	require.Equal(t, strings.Join(want, "\n")+"\n", out)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, len(want))
}

// TestChapterPicturesRefuses: a folder that cannot be made is an error with the flag's name.
func TestChapterPicturesRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := commandtest.Output(t.Context(), New(), "--pictures", file, "--section", "1")
	require.ErrorContains(t, err, "--pictures: ")
	require.NotContains(t, err.Error(), "\n")
}

// TestEverySectionIsDrawn: each has a heat map of its steps; sections about a layer have its graph. The tutorial's
// pictures are those that the command draws, up to the rounding of colours, and so are its two graphs.
func TestEverySectionIsDrawn(t *testing.T) {
	const folder = "../../../../layers/chapter/pictures"
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	page, err := os.ReadFile(filepath.Dir(folder) + "/README.md")
	require.NoError(t, err)
	tutorial := map[string]bool{}
	for _, f := range files {
		tutorial[f.Name()] = true
	}
	for _, s := range chapter.Sections() {
		if s.Number == 15 { // a large one, drawn like 20; the tutorial has no picture of it
			continue
		}
		steps, err := s.Run(tensor.Float32)
		require.NoError(t, err)
		all, err := pictures(s, steps)
		require.NoError(t, err)
		require.Equal(t, s.Layer().Layer != "", len(all) == 2, s.Title)
		for _, p := range all {
			var written bytes.Buffer
			require.NoError(t, p.write(&written))
			if filepath.Ext(p.name) == ".mmd" {
				shown := strings.Contains(string(page), "```mermaid\n"+written.String()+"```\n")
				require.Equal(t, s.Number == 5 || s.Number == 14, shown, s.Title)
				continue
			}
			drawn, err := png.Decode(&written)
			require.NoError(t, err)
			if tutorial[p.name] {
				requireSame(t, readPicture(t, filepath.Join(folder, p.name)), drawn, p.name)
				delete(tutorial, p.name)
			}
		}
	}
	require.Empty(t, tutorial, "pictures that the command does not draw")
}

// TestMatrices: the contents of a section's heat maps, and the ends of their arrows.
func TestMatrices(t *testing.T) {
	type row struct {
		title         string
		rows, columns int
		follows       bool
	}
	drawn := func(number int) (rows []row) {
		steps, err := chapter.Sections()[number-1].Run(tensor.Float32)
		require.NoError(t, err)
		var maps []plot.Matrix
		for _, step := range steps {
			maps = append(maps, matrices(step, maps)...)
		}
		for _, m := range maps {
			rows = append(rows, row{m.Title, len(m.Values), len(m.Values[0]), m.Follows})
			if m.Rows != nil {
				require.Len(t, m.Rows, len(m.Values))
			}
			if m.Columns != nil {
				require.Len(t, m.Columns, len(m.Values[0]))
			}
		}
		return rows
	}
	require.Equal(t, []row{
		{"weights = softmax(q·kᵀ / √2)", 6, 6, false}, {"mask = tril(ones)", 6, 6, false},
		{"masked = weights×mask", 6, 6, true}, {"normed = masked / Σ masked", 6, 6, true},
	}, drawn(8))
	require.Equal(t, []row{
		{"dropout(ones)", 6, 6, false}, {"masked = fill(q·kᵀ)", 6, 6, false}, {"weights = softmax(masked / √2)", 6, 6, true},
		{"dropout(weights)", 6, 6, true}, {"context = dropout(weights)·v", 6, 2, true}, {"dropout(weights·v)", 6, 2, false},
	}, drawn(10))
	require.Equal(t, []row{ // the scalars and sizes are left out
		{"x", 6, 3, false}, {"scores = x[1]·xᵀ", 1, 6, true}, {"weights_tmp = scores / Σ scores", 1, 6, true},
		{"weights_naive = exp(scores) / Σ exp(scores)", 1, 6, false}, {"weights = softmax(scores)", 1, 6, false},
		{"context = weights·x", 1, 3, true},
	}, drawn(1))
	require.Equal(t, []row{ // the second sequence equals the first
		{"masked = fill(q·kᵀ), head 0", 6, 6, false}, {"masked = fill(q·kᵀ), head 1", 6, 6, false},
		{"weights = softmax(masked / √1), head 0", 6, 6, false}, {"weights = softmax(masked / √1), head 1", 6, 6, false},
		{"joined = weights·v", 6, 2, true}, {"context = joined·out_proj.weightᵀ + out_proj.bias, sequence 0", 6, 2, true},
	}, drawn(14))
	require.Equal(t, []row{{"W_query.weight", 8, 8, false}}, drawn(20), "a corner of a large one")
}

func readPicture(t *testing.T, path string) image.Image {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(content))
	require.NoError(t, err, path)
	return picture
}

// requireSame requires equal pictures. A colour may differ by two of 255 levels.
func requireSame(t *testing.T, want, got image.Image, name string) {
	t.Helper()
	require.Equal(t, want.Bounds(), got.Bounds(), name)
	far := func(a, b uint32) bool { return max(a, b)-min(a, b) > 2*0x101 }
	different := 0
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			r, g, b, _ := want.At(x, y).RGBA()
			gotR, gotG, gotB, _ := got.At(x, y).RGBA()
			if far(r, gotR) || far(g, gotG) || far(b, gotB) {
				different++
			}
		}
	}
	require.Zero(t, different, "%s: pixels that differ", name)
}
