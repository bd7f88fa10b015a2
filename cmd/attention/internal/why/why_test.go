package why

import (
	"context"
	"encoding/json"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

// whyOutput runs attention why as main does.
func whyOutput(ctx context.Context, args ...string) (string, error) {
	return commandtest.Output(ctx, New(), args...)
}

// A run of both tasks prints tables of 80 columns, and writes pictures and a report with all numbers.
func TestWhy(t *testing.T) {
	t.Chdir(t.TempDir())
	args := "--steps 3 --seeds 2 --seed 7"
	printed, err := whyOutput(t.Context(), strings.Fields(args)...)
	require.NoError(t, err)
	for _, line := range strings.Split(printed, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}
	for _, line := range []string{
		`     7  squeezed +123075 +\d\.\d{4}`, `     8  attending +\d+ .*`, `     8  transformer +\d+ .*`,
		`  100 \|`, `    0 \|( \*)+`, `length +5 +10 +15 +20 +25 +30 +35 +40`, `squeezed( +0\.0){8}`, `  seeds( +0–0){8}`,
		`backwards    [a-j]{40}`, `transformer  [A-Ja-j]{40}`, `     7  attention +110986( +[0-9.]+){4}`,
		`  mean  each alone( +[0-9.]+){3}`, `arrows( +\d+){8}`, `row \d, col \d +an arrow (up|right|down|left) .*`,
		`In why/1:`, `  reverse.png, reverse-attention.png, reverse.safetensors, picture.png,`, `  report.json`,
	} {
		require.Regexp(t, "(?m)^"+line+"$", printed)
	}
	for _, name := range []string{"reverse.png", "reverse-attention.png", "picture.png"} {
		require.Positive(t, commandtest.Pixels(t, filepath.Join("why/1", name),
			color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}))
	}
	r := reportOf(t, "why/1")
	file, err := os.ReadFile("why/1/reverse.safetensors")
	require.NoError(t, err)
	models, of, err := readRivals(file)
	require.NoError(t, err)
	require.Len(t, models, 3)
	require.Equal(t, r.Reverse.Models[1].Loss[:1], of.Models[1].Loss)
	require.Equal(t, "attention why "+args, r.Command)
	require.Equal(t, []int64{7, 8}, r.Seeds)
	require.NotEqual(t, r.Reverse.Models[0].Loss[0], r.Reverse.Models[0].Loss[1], "two seeds")

	_, err = whyOutput(t.Context(), "--task", "picture", "--steps", "3", "--seeds", "1", "--seed", "8", "--out", "again")
	require.NoError(t, err)
	again := reportOf(t, "again")
	require.Nil(t, again.Reverse)
	for i, model := range again.Picture.Models {
		before := r.Picture.Models[i]
		require.Equal(t, before.Loss[1:], model.Loss)
		require.Equal(t, before.Digits[1:], model.Digits)
	}
	require.Equal(t, r.Picture.Models[0].Focus[1:], again.Picture.Models[0].Focus)
}

// reportOf reads the report.json of a folder.
func reportOf(t *testing.T, dir string) (r report) {
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &r))
	return r
}

func TestWrongFlagsOfWhy(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("full/x", 0o755))
	require.NoError(t, os.WriteFile("file", nil, 0o644))
	for _, c := range []struct{ args, wantErr string }{
		{args: "--task sort", wantErr: `--task: got "sort", want reverse or picture`},
		{args: "--task=", wantErr: `--task: got "", want reverse or picture`},
		{args: "--steps 0", wantErr: "--steps: got 0, want at least 1"},
		{args: "--seeds 0", wantErr: "--seeds: got 0, want 1 to 100"},
		{args: "--seeds 101", wantErr: "--seeds: got 101, want 1 to 100"},
		{args: "--out=", wantErr: "--out: got nothing, want the name of a folder"},
		{args: "--out full", wantErr: "--out: full: got a folder that is not empty, want a new or empty one"},
		{args: "--out file", wantErr: "--out: "},
		{args: "--view --task reverse", wantErr: "--task: got it besides --view, which trains nothing, want one of them"},
		{args: "--open", wantErr: "--open: got it without --view, want both"},
	} {
		_, err := whyOutput(t.Context(), strings.Fields(c.args)...)
		require.ErrorContains(t, err, c.wantErr)
		require.NotContains(t, err.Error(), "\n")
	}
	require.NoDirExists(t, "why")
}

// After Ctrl-C the command prints one line.
func TestWhyIsInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := whyOutput(ctx, "--task", "picture")
	require.EqualError(t, err, "interrupted")
}

// A full disk, and output without a reader, are errors.
func TestWhyWithoutAReader(t *testing.T) {
	t.Chdir(t.TempDir())
	err := commandtest.Run(t.Context(), commandtest.Full{}, commandtest.Full{}, New(), "--task", "picture", "--steps", "1",
		"--seeds", "1")
	require.EqualError(t, err, "printing: no space left")
}

// The task needs attention: after a sixth of the default steps a model with attention finds most coloured pairs, and
// one without it finds none. It takes 14 seconds of CPU time.
func TestPictureNeedsAttention(t *testing.T) {
	if testing.Short() {
		t.Skip("a sixth of a run")
	}
	t.Chdir(t.TempDir())
	_, err := whyOutput(t.Context(), "--task", "picture", "--steps", "320", "--seeds", "1", "--out", "out")
	require.NoError(t, err)
	r := reportOf(t, "out")
	with, without := r.Picture.Models[0], r.Picture.Models[1]
	require.Greater(t, with.Digits[0], 0.99)
	require.Greater(t, without.Digits[0], 0.99, "each tile reads itself")
	require.Greater(t, with.Colours[0], 0.5)
	for _, share := range []float64{without.Arrows[0], without.Colours[0]} {
		require.InDelta(t, r.Picture.Chance, share, 0.03)
	}
}

func TestMarkWrong(t *testing.T) {
	require.Equal(t, "abXd", markWrong("abxd", "abcd"))
	require.Equal(t, "ab$d", markWrong("ab$d", "abcd"))
}
