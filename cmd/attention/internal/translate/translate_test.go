package translate

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/graph/machine"
	"attention/internal/tensorprint"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// printTo runs attention translate as main does, printing to w.
func printTo(ctx context.Context, w io.Writer, args ...string) error {
	return commandtest.Run(ctx, w, w, New(), args...)
}

// exactMatch returns the percentage in the printed text.
func exactMatch(t *testing.T, printed string) float64 {
	found := regexp.MustCompile(`(?m): ([0-9.]+) % exact match\.$`).FindStringSubmatch(printed)
	require.NotNil(t, found, printed)
	percent, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return percent
}

// An eighth of a whole run learns most dates.
func TestTranslateLearns(t *testing.T) {
	var out bytes.Buffer
	picture := filepath.Join(t.TempDir(), "weights.png")
	require.NoError(t, printTo(t.Context(), &out, "--steps", "200", "--batch", "32", "--out", picture))
	printed := out.String()
	require.Greater(t, exactMatch(t, printed), 60.0)
	for _, line := range []string{
		`dates     1950 to 2049 in 10 styles: 34525 to learn from, 2000 held out`,
		`model     width 64, 4 heads, blocks 1 \+ 1: \d+ parameters`,
		`training  200 steps of 32 dates`,
		`  step  training  held out`, `   100( +[0-9.]+){2}`, `   200( +[0-9.]+){2}`,
		`200 steps in [0-9.]+ s\. Of the held-out dates, translated in [0-9.]+ s, \d+ of 2000`,
		regexp.QuoteMeta(picture) + `: what the decoder looks at to write [0-9-]+ for "\w+, .*"`,
	} {
		require.Regexp(t, "(?m)^"+line+"$", printed)
	}
	require.Len(t, regexp.MustCompile(`(?m)^.{28}  [0-9-]{10}(, want [0-9-]{10})?$`).FindAllString(printed, -1), 8)
	commandtest.RequirePicture(t, picture, commandtest.WeightColors())
}

// A whole run reaches 99 %. It takes 20 s of CPU time.
func TestTranslateReaches99Percent(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole run")
	}
	var out bytes.Buffer
	require.NoError(t, printTo(t.Context(), &out))
	require.Greater(t, exactMatch(t, out.String()), 99.0, out.String())
}

func tinyTranslate(seed string) []string {
	return strings.Fields("--steps 3 --batch 250 --width 6 --heads 2 --blocks 2 --seed " + seed)
}

func TestTranslateIsRepeatable(t *testing.T) {
	dir := t.TempDir()
	run := func(seed string) (printed, picture string) {
		var out bytes.Buffer
		path := filepath.Join(dir, "weights.png")
		require.NoError(t, printTo(t.Context(), &out, append(tinyTranslate(seed), "--out", path)...))
		png, err := os.ReadFile(path)
		require.NoError(t, err)
		return regexp.MustCompile(` in [0-9.]+ s`).ReplaceAllString(out.String(), ""), string(png)
	}
	printed, picture := run("5")
	again, pictureAgain := run("5")
	require.Equal(t, printed, again)
	require.Equal(t, picture, pictureAgain)
	other, pictureOther := run("6")
	require.NotEqual(t, printed, other)
	require.NotEqual(t, picture, pictureOther)
}

// In padded batches with a given memory, the choices equal those of the whole model on one
// pair at a time.
func TestTranslator(t *testing.T) {
	r, err := newTranslation(io.Discard, options{steps: 1, batch: 13, width: 6, heads: 2, blocks: 2, seed: 3})
	require.NoError(t, err)
	r.heldOut.pairs = r.heldOut.pairs[:20]
	for _, v := range r.params.All() { // with large weights each difference between sources counts
		for i := range v.Float32s() {
			v.Float32s()[i] *= 4
		}
	}
	tr, err := r.newTranslator()
	require.NoError(t, err)
	got, err := tr.translateAll(t.Context(), r.heldOut)
	require.NoError(t, err)
	var want []string
	for _, p := range r.heldOut.pairs {
		want = append(want, translateNaively(t, r, p.written))
	}
	require.Equal(t, want, got)
	slices.Sort(want)
	require.Greater(t, len(slices.Compact(want)), 3, "a model whose output is always the same proves nothing")
}

func translateNaively(t *testing.T, r *translation, written string) string {
	source, err := r.written.Encode(written)
	require.NoError(t, err)
	target := []int{r.begin()}
	for range isoLength {
		b := layers.NewBuild(r.params, layers.Eval)
		input := func(name string, ids []int) *G.Node {
			n := b.InputOf(tensor.Int, name, len(ids))
			require.NoError(t, b.Err())
			require.NoError(t, G.Let(n, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(slices.Clone(ids)))))
			return n
		}
		logits, err := r.model.Forward(b, input("source", source), input("target", target), nil)
		require.NoError(t, err)
		m, err := machine.New(logits)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		all := tensorprint.Float64s(logits.Value().(*tensor.Dense))
		v := logits.Shape()[1]
		target = append(target, largest(all[len(all)-v:len(all)-1]))
	}
	iso, err := r.iso.Decode(target[1:])
	require.NoError(t, err)
	return iso
}

func TestLargest(t *testing.T) {
	require.Equal(t, 0, largest([]float64{-3}))
	require.Equal(t, 1, largest([]float64{-3, 2, 2, 1}))
}

// Every character has its label.
func TestCrossPicture(t *testing.T) {
	weights := make([]float64, isoLength*4)
	p := crossPicture(datePair{"1 .2", "2003-02-01"}, [][]float64{weights, weights})
	require.Len(t, p.Maps, 2)
	require.Equal(t, "cross-attention weights, head 2 of 2", p.Maps[1].Title)
	require.Equal(t, []string{"1", "·", ".", "2"}, p.Maps[1].Columns)
	require.Len(t, p.Maps[1].Rows, isoLength)
	require.Equal(t, "2003-02-01", strings.Join(p.Maps[1].Rows, ""))
}

func TestTranslateWrongFlags(t *testing.T) {
	commandtest.InBadFolder(t)
	before := commandtest.Files(t)
	for args, want := range map[string]string{
		"--steps 0":              "--steps: got 0, want at least 1",
		"--batch 0":              "--batch: got 0, want at least 1",
		"--width -3":             "--width: got -3, want at least 1",
		"--heads 0":              "--heads: got 0, want at least 1",
		"--blocks 0":             "--blocks: got 0, want at least 1",
		"--heads 5":              "--heads: got 5, want a divisor of --width 64",
		"--width 4096":           "--width, --blocks: got 4.7e+08 weights, want at most 134217728",
		"--blocks 4000000":       "--width, --blocks: got 4.59e+11 weights, want at most 134217728",
		"--batch 100000":         "--batch, --width: got 7.17e+08 elements of an MLP, want at most 134217728",
		"--out=":                 "--out: got nothing, want the name of a file",
		"--out full":             "--out: full: is a folder, want a file to write",
		"--out nothere/file.png": "--out: nothere/file.png: want a file in a folder that is there",
		"--out short/file.png":   "--out: short/file.png: want a file in a folder that is there",
	} {
		var out bytes.Buffer
		require.EqualError(t, printTo(t.Context(), &out, strings.Fields(args)...), "translate: "+want, args)
		require.Empty(t, out.String(), args)
	}
	require.Error(t, printTo(t.Context(), io.Discard, "dates"))
	require.Equal(t, before, commandtest.Files(t))
}

func TestTranslateStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	err := printTo(ctx, io.Discard, tinyTranslate("1")...)
	require.EqualError(t, err, "translate: train: stopped after 0 of 3 steps: context canceled")
	require.Equal(t, 130, term.ExitCode(err))

	r, err := newTranslation(io.Discard, options{steps: 1, batch: 2, width: 6, heads: 2, blocks: 1})
	require.NoError(t, err)
	tr, err := r.newTranslator()
	require.NoError(t, err)
	_, err = tr.translateAll(ctx, r.heldOut)
	require.ErrorIs(t, err, context.Canceled)
}

// A failed print is an error.
func TestTranslatePrintingFails(t *testing.T) {
	require.ErrorContains(t, printTo(t.Context(), commandtest.Full{}, tinyTranslate("1")...),
		"translate: train: printing: no space left")
}
