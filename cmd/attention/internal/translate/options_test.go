package translate

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

func TestTranslateWrongFlags(t *testing.T) {
	commandtest.InBadFolder(t)
	require.NoError(t, os.Mkdir("full.png", 0o755))
	before := commandtest.Files(t)
	for _, c := range []struct {
		args string
		date string // value of --date, which may contain blanks
		want string
	}{
		{args: "--steps 0", want: "--steps: got 0, want at least 1"},
		{args: "--batch 0", want: "--batch: got 0, want at least 1"},
		{args: "--width -3", want: "--width: got -3, want at least 1"},
		{args: "--heads 0", want: "--heads: got 0, want at least 1"},
		{args: "--blocks 0", want: "--blocks: got 0, want at least 1"},
		{args: "--heads 5", want: "--heads: got 5, want a divisor of --width=64"},
		{args: "--width 4096", want: "--width: got 4096, which with --blocks=1 makes 4.7e+08 weights, want at most 134217728"},
		{args: "--blocks 4000000",
			want: "--width: got 64, which with --blocks=4000000 makes 4.59e+11 weights, want at most 134217728"},
		{args: "--batch 100000",
			want: "--batch: got 100000, which makes 7.17e+08 elements of an MLP, want at most 134217728"},
		{args: "--out=", want: "--out: got nothing, want the folder"},
		{args: "--out weights.PNG", want: `--out: got "weights.PNG", want the run's folder; --picture is for a picture`},
		{args: "--picture=", want: "--picture: got nothing, want the file"},
		{args: "--out full", want: "--out: full: got a folder that is not empty, want a new or empty one"},
		{args: "--picture full.png", want: "--picture: full.png: is a folder, want a file to write"},
		{args: "--picture nothere/file.png", want: "--picture: nothere/file.png: want a file in a folder that is there"},
		{args: "--picture short/file.png", want: "--picture: short/file.png: want a file in a folder that is there"},
		{date: "6. März", want: `--date: got 'ä' at position 4 of "6. März", ` +
			`want letters from a to z, digits, blanks and ',./`},
		{date: "1\x1b[2J", want: `--date: got '\x1b' at position 1 of "1\x1b[2J", ` +
			`want letters from a to z, digits, blanks and ',./`},
		{args: "--date=", want: "--date: got nothing, want the date"},
		{date: strings.Repeat("1", 29), want: "--date: got 29 characters, want 1 to 28"},
		{args: "--model full", want: "--model: got no --date, want dates to translate"},
		{args: "--model full --date 1.2.2003 --steps 3",
			want: "--steps: got it beside --model, want only --picture, --date: the run's config.json has the rest"},
		{args: "--model full --date 1.2.2003 --resume full",
			want: "--resume: got it beside --model, want only --picture, --date: the run's config.json has the rest"},
		{args: "--resume full --seed 3",
			want: "--seed: got it beside --resume, want only --picture, --date: the run's config.json has the rest"},
		{args: "--resume full --out new",
			want: "--out: got it beside --resume, want only --picture, --date: the run's config.json has the rest"},
		{args: "--resume nothere", want: "--resume: stat nothere: no such file or directory, " +
			"want the folder of a run"},
		{args: "--resume short", want: "--resume: short: got a file, want the folder of a model, " +
			"with config.json and model.safetensors, or a GGUF file"},
		{args: "--resume full", want: "--resume: open full/config.json: no such file or directory, " +
			"want the folder of a run"},
		{args: "--model full --date 1.2.2003", want: "--model: open full/config.json: no such file or directory, " +
			"want the folder of a model, with config.json and model.safetensors"},
		{args: "--resume=", want: "--resume: got nothing, want the folder"},
		{args: "--model= --date 1.2.2003", want: "--model: got nothing, want the folder"},
	} {
		args := strings.Fields(c.args)
		if c.date != "" {
			args = append(args, "--date", c.date)
		}
		var out bytes.Buffer
		require.EqualError(t, printTo(t.Context(), &out, args...), c.want, c.args)
		require.Empty(t, out.String(), c.args)
	}
	require.Error(t, printTo(t.Context(), io.Discard, "dates"))
	require.Equal(t, before, commandtest.Files(t))
}
