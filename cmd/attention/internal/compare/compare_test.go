package compare

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/cmd/attention/internal/commandtest"
	"attention/train/tasks/lookback"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	commandtest.SketchPictures()
	os.Exit(m.Run())
}

// output runs attention compare as main does.
func output(ctx context.Context, args string) (string, error) {
	return commandtest.Output(ctx, New(), strings.Fields(args)...)
}

// reportOf reads the report.json of a folder.
func reportOf(t *testing.T, dir string) (r report) {
	text, err := os.ReadFile(dir + "/report.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &r))
	return r
}

// Every attention learns a task, with as many parameters as full attention, and its costs are printed in 80 columns.
func TestCompareAll(t *testing.T) {
	t.Chdir(t.TempDir())
	printed, err := output(t.Context(), "--task recall --steps 2")
	require.NoError(t, err)
	for line := range strings.Lines(printed) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSpace(line)), 80, line)
	}
	r := reportOf(t, "compare/1")
	require.Len(t, r.Models, len(variants()))
	for i, v := range variants() {
		m := r.Models[i]
		require.Equal(t, v.name, m.Attention)
		require.Regexp(t, `(?m)^     1  `+v.name+` +\d\.\d{4} +\d+\.\d +\d+\.\d +\d+$`, printed)
		require.Regexp(t, `(?m)^`+v.name+` +\d+ +\d{6} +\d+\.\d +\d+ +\d+$`, printed)
		require.InEpsilon(t, r.Models[0].Parameters, m.Parameters, closeness)
		require.InDelta(t, math.Log(float64(lookback.Recall.Vocabulary())), m.Loss[0], 1)
		require.Positive(t, m.Memory, v.name)
		require.Positive(t, m.Token+m.Fixed, v.name)
		require.Positive(t, m.Speed[0], v.name)
		require.Len(t, m.Marks[0], len(lookback.Recall.Levels()))
		require.Len(t, m.Curve[0], 2)
	}
	full, grouped, window := r.Models[0], r.Models[1], r.Models[2]
	require.Equal(t, [2]int{2 * 2 * 64 * 4, 0}, [2]int{full.Token, full.Fixed}, "keys and values of two layers")
	require.Equal(t, [2]int{full.Token / 2, 0}, [2]int{grouped.Token, grouped.Fixed})
	require.Equal(t, [2]int{0, 16 * full.Token}, [2]int{window.Token, window.Fixed})
	require.Equal(t, 172, full.DimFeedforward)
	require.FileExists(t, "compare/1/compare.png")
}

// Two seeds of a text: the means are printed below, and the same flags give the same losses.
func TestCompareText(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("text", []byte(strings.Repeat("to be or not to be, that is the question. ", 50)),
		0o644))
	args := "--text text --attention linear --steps 2 --seeds 2 --seed 7"
	printed, err := output(t.Context(), args)
	require.NoError(t, err)
	for _, line := range []string{`text: the next of 15 characters`, `2 steps of 12 sequences of 128 tokens`,
		`     7  linear +\d\.\d{4} +\d+\.\d +\d+`, `     8  linear .*`, `  mean  linear .*`,
		`     ±  +\d\.\d{4} +\d+\.\d +\d+`,
		`In compare/1: compare.png, report.json`} {
		require.Regexp(t, "(?m)^"+line+"$", printed)
	}
	r := reportOf(t, "compare/1")
	require.Equal(t, "attention compare "+args, r.Command)
	require.Equal(t, []int64{7, 8}, r.Seeds)
	require.NotEqual(t, r.Models[0].Loss[0], r.Models[0].Loss[1], "two seeds")
	_, err = output(t.Context(), "--text text --attention linear --steps 2 --seed 8 --out again")
	require.NoError(t, err)
	again := reportOf(t, "again")
	require.Equal(t, r.Models[0].Loss[1:], again.Models[0].Loss)
	require.Equal(t, r.Models[0].Curve[1:], again.Models[0].Curve)
}

func TestWrongFlagsOfCompare(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("short", []byte("abc"), 0o644))
	require.NoError(t, os.MkdirAll("full/x", 0o755))
	for _, c := range []struct{ args, wantErr string }{
		{args: "", wantErr: "--text, --task: want one of them: a file, or copy or recall"},
		{args: "--text short --task copy", wantErr: "--text, --task: want one of them: a file, or copy or recall"},
		{args: "--task sort", wantErr: `--task: got "sort", want copy or recall`},
		{args: "--text none", wantErr: "--text: none: "},
		{args: "--text short", wantErr: "--text: short: text: got 3 tokens, 2 to train on and 1 to validate on, want both"},
		{args: "--task copy --attention full,lin", wantErr: `--attention: got "lin", want one of full, grouped, window, `},
		{args: "--task copy --steps 0", wantErr: "--steps: got 0, want at least 1"},
		{args: "--task copy --seeds 0", wantErr: "--seeds: got 0, want 1 to 100"},
		{args: "--task copy --out=", wantErr: "--out: got nothing, want the name of a folder"},
		{args: "--task copy --out full", wantErr: "--out: full: got a folder that is not empty, want a new or empty one"},
	} {
		_, err := output(t.Context(), c.args)
		require.ErrorContains(t, err, c.wantErr)
		require.NotContains(t, err.Error(), "\n")
	}
	require.NoDirExists(t, "compare")
}

// A stopped run ends with one line.
func TestCompareIsInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := output(ctx, "--task copy")
	require.EqualError(t, err, "interrupted")
}

// If the reader is gone, the command returns an error.
func TestCompareWithoutAReader(t *testing.T) {
	t.Chdir(t.TempDir())
	err := commandtest.Run(t.Context(), commandtest.Full{}, commandtest.Full{}, New(), "--task", "copy", "--steps", "1",
		"--attention", "full")
	require.EqualError(t, err, "printing: no space left")
}

func TestSpread(t *testing.T) {
	mean, deviation := spread([]float64{2, 4, 9})
	require.Equal(t, 5.0, mean)
	require.InDelta(t, 3.605551, deviation, 1e-6)
	_, deviation = spread([]float64{3})
	require.Zero(t, deviation)
}

// All models of both kinds have as many parameters as full attention; a size at which one cannot is an error.
func TestEqualSizes(t *testing.T) {
	small := ofTask(lookback.Copy)
	text := small
	text.model.EmbedDim, text.model.NumHeads, text.model.NumLayers, text.model.DimFeedforward = 128, 4, 4, 344
	for _, g := range []goal{small, text} {
		want, err := g.count(variants()[0], g.model.DimFeedforward)
		require.NoError(t, err)
		for _, v := range variants() {
			c, err := g.sized(v)
			require.NoError(t, err, v.name)
			require.NoError(t, c.Validate(), v.name)
			got, err := g.count(v, c.Blocks[0].MLP.DimFeedforward)
			require.NoError(t, err, v.name)
			require.InEpsilon(t, want, got, closeness, v.name)
		}
	}
	small.model.DimFeedforward = 4
	gated, err := choose([]string{"gated_delta_net"})
	require.NoError(t, err)
	_, err = small.sized(gated[0])
	require.ErrorContains(t, err, "up to 3 %, as with full attention")
}

func TestChoose(t *testing.T) {
	chosen, err := choose([]string{"window", "full", "window"})
	require.NoError(t, err)
	require.Len(t, chosen, 2)
	require.Equal(t, []string{"window", "full"}, []string{chosen[0].name, chosen[1].name})
}
