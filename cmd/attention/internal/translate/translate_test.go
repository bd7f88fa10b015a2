package translate

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

func init() { commandtest.SketchPictures() }

// printTo runs attention translate as main does, with the output to w.
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

// After an eighth of the default steps the model translates most dates.
func TestTranslateLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out a run of 200 steps, and all that it prints")
	}
	commandtest.DrawPictures(t)
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	picture := "weights.png"
	require.NoError(t, printTo(t.Context(), &out, "--steps", "200", "--batch", "32", "--picture", picture))
	printed := out.String()
	require.Greater(t, exactMatch(t, printed), 60.0)
	for _, line := range []string{
		`dates     1950 to 2049 in 10 styles: 34525 to learn from, 2000 held out`,
		`model     width 64, 4 heads, blocks 1 \+ 1: \d+ parameters`,
		`training  200 steps of 32 dates`, `folder    runs/1`,
		`  step  training  held out`, `   100( +[0-9.]+){2}`, `   200( +[0-9.]+){2}`,
		`200 steps in [0-9.]+ s\. Of the held-out dates, translated in [0-9.]+ s, \d+ of 2000`,
		regexp.QuoteMeta(picture) + `: what the decoder looks at to write\n[0-9-]+ for "\w+, .*"`,
	} {
		require.Regexp(t, "(?m)^"+line+"$", printed)
	}
	require.Len(t, regexp.MustCompile(`(?m)^.{28}  [0-9-]{10}(, want [0-9-]{10})?$`).FindAllString(printed, -1), 8)
	commandtest.RequirePicture(t, picture, commandtest.WeightColors())
}

// With the default steps 99 % of the dates are translated correctly. The run takes 20 s of CPU time.
func TestTranslateReaches99Percent(t *testing.T) {
	if !testenv.All {
		t.Skip("a whole run")
	}
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	require.NoError(t, printTo(t.Context(), &out))
	require.Greater(t, exactMatch(t, out.String()), 99.0, out.String())
}

func tinyTranslate(seed string) []string {
	return strings.Fields("--steps 3 --batch 250 --width 6 --heads 2 --blocks 2 --seed " + seed)
}

func TestTranslateIsRepeatable(t *testing.T) {
	run := func(seed string) (printed, picture string) {
		t.Chdir(t.TempDir())
		var out bytes.Buffer
		require.NoError(t, printTo(t.Context(), &out, append(tinyTranslate(seed), "--picture", "weights.png")...))
		png, err := os.ReadFile("weights.png")
		require.NoError(t, err)
		measured := regexp.MustCompile(` in [0-9.]+ s\b|[0-9.]+ GFLOP/s`)
		return measured.ReplaceAllString(out.String(), ""), string(png)
	}
	printed, picture := run("5")
	again, pictureAgain := run("5")
	require.Equal(t, printed, again)
	require.Equal(t, picture, pictureAgain)
	if testing.Short() {
		t.Skip("-short leaves out the run of another seed")
	}
	other, pictureOther := run("6")
	require.NotEqual(t, printed, other)
	require.NotEqual(t, picture, pictureOther)
}

func TestTranslateStops(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	err := printTo(ctx, io.Discard, tinyTranslate("1")...)
	require.EqualError(t, err, "stopped after 0 of 3 steps; resume with: attention translate --resume runs/1")
	require.Equal(t, 130, term.ExitCode(err))

	o := options{flags: New().Flags()}
	require.NoError(t, o.flags.Parse([]string{"--batch=2", "--width=6", "--heads=2", "--steps=1"}))
	require.NoError(t, o.read())
	r, err := newTranslation(io.Discard, o)
	require.NoError(t, err)
	tr, err := r.model.NewTranslator()
	require.NoError(t, err)
	_, err = tr.TranslateAll(ctx, r.heldOut)
	require.ErrorIs(t, err, context.Canceled)
}

// If printing fails, the command returns an error.
func TestTranslatePrintingFails(t *testing.T) {
	t.Chdir(t.TempDir())
	require.ErrorContains(t, printTo(t.Context(), commandtest.Full{}, tinyTranslate("1")...),
		"printing: no space left")
}
