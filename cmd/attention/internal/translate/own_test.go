package translate

import (
	"bytes"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/train"

	"github.com/stretchr/testify/require"
)

// TestTranslateOwnDates: the dates of --date have the same translations right after the training, with the saved model
// and with the last checkpoint. Their case and their number do not matter.
func TestTranslateOwnDates(t *testing.T) {
	commandtest.DrawPictures(t)
	t.Chdir(t.TempDir())
	flags := strings.Fields("--steps 20 --batch 100 --width 16 --out run --date 8/6/63")
	var out bytes.Buffer
	require.NoError(t, printTo(t.Context(), &out, append(flags, "--date", "Tuesday, 6 August 1963")...))
	_, own, ok := strings.Cut(out.String(), "\nOf --date:\n\n")
	require.True(t, ok)
	own, _, _ = strings.Cut(own, "\n\n")
	require.Regexp(t, `^8/6/63 {22}  [0-9-]{10}\ntuesday, 6 august 1963 {6}  [0-9-]{10}$`, own)
	require.Contains(t, out.String(), "\nrun/attention.png: what the decoder looks at to write\n")
	commandtest.RequirePicture(t, "run/attention.png", commandtest.WeightColors())

	model := func(dates ...string) (printed, notes string) {
		var out, err bytes.Buffer
		args := append([]string{"--model", "run"}, dates...)
		require.NoError(t, commandtest.Run(t.Context(), &out, &err, New(), args...))
		return out.String(), err.String()
	}
	printed, notes := model("--date", "8/6/63", "--date", "TUESDAY, 6 august 1963", "--picture", "own.png")
	lines, _, _ := strings.Cut(printed, "\n\n")
	require.Equal(t, own, lines)
	require.Empty(t, notes)
	require.Contains(t, printed, "\n\nown.png: what the decoder looks at to write\n")
	drawn, err := os.ReadFile("own.png")
	require.NoError(t, err)
	want, err := os.ReadFile("run/attention.png")
	require.NoError(t, err)
	require.Equal(t, want, drawn, "the first date, by the same model")

	require.NoError(t, os.Remove("run/model.safetensors"))
	printed, notes = model("--date", "8/6/63")
	require.Equal(t, strings.Split(own, "\n")[0]+"\n", printed)
	require.Empty(t, notes, "the last checkpoint is the model")
}

func TestOwnDatesPrintingFails(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, printTo(t.Context(), io.Discard, append(tinyTranslate("1"), "--out", "run")...))
	err := printTo(t.Context(), commandtest.Full{}, "--model", "run", "--date", "1.2.2003")
	require.EqualError(t, err, "printing: no space left")
	require.NoError(t, os.Truncate("run/"+settings.ModelFile, 100))
	err = printTo(t.Context(), io.Discard, "--model", "run", "--date", "1.2.2003")
	require.ErrorContains(t, err, "--model: train: parameters: ")
}

// A model can be used only with the config.json of its training, and only if its weights are finite. The run need not
// be finished.
func TestReadModelRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, printTo(t.Context(), io.Discard, append(tinyTranslate("1"), "--out", "run")...))
	good, err := os.ReadFile("run/config.json")
	require.NoError(t, err)
	changed := strings.Replace(string(good), `"num_heads": 2`, `"num_heads": 3`, 1) // the parameters have the same shapes
	require.NoError(t, os.WriteFile("run/config.json", []byte(changed), 0o644))
	requireError := func(want string) {
		t.Helper()
		_, _, err := commandtest.Inspect(t, "run").OpenDates(-1)
		require.ErrorContains(t, err, want)
	}
	requireError("run/config.json: config: got ")
	requireError(", that of run/model.safetensors")
	model, err := os.ReadFile("run/model.safetensors")
	require.NoError(t, err)
	require.NoError(t, os.Remove("run/model.safetensors"))
	requireError(", that of run/checkpoints/step-00000003.safetensors")
	require.NoError(t, os.WriteFile("run/config.json", good, 0o644))

	require.NoError(t, os.WriteFile("run/model.safetensors", model, 0o644))
	m, _, err := commandtest.Inspect(t, "run").OpenDates(-1)
	require.NoError(t, err)
	for _, value := range m.Params().All() {
		value.Float32s()[0] = float32(math.NaN())
		break
	}
	f, err := session.OpenFolder("run", checkpoints)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.WriteModel(nil, m.Params(), 3, 0))
	_, _, err = commandtest.Inspect(t, "run").OpenDates(-1)
	require.ErrorIs(t, err, train.ErrNotFinite)
	require.ErrorContains(t, err, "run/model.safetensors: parameter ")
}

// TestNoDates: a text without a day and a year in digits is not a date, and a line says so.
func TestNoDates(t *testing.T) {
	for written, want := range map[string]string{
		"yesterday": `attention: --date: "yesterday" is no date: want a day and a year in digits` + "\n",
		"6 august":  `attention: --date: "6 august" is no date: want a day and a year in digits` + "\n",
		"8/6/63":    "", "6 aug '63": "", "Tuesday, 6 August 1963": "",
	} {
		pairs, err := ownDates([]string{written})
		require.NoError(t, err)
		var notes strings.Builder
		noteNoDates(&notes, pairs)
		require.Equal(t, want, notes.String())
	}
}
