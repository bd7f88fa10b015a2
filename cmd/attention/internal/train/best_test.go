package train

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/internal/safetensors"
	"attention/train/metrics"

	"github.com/stretchr/testify/require"
)

// worsening are flags of a run whose validation loss rises after a few steps, because its learning rate grows far too
// large.
var worsening = strings.Fields(
	"--lr 1 --min-lr 0 --warmup 39 --decay-steps 40 --steps 40 --eval-every 2 --save-every 5 --keep 3")

// validations returns the validation losses of a run by their steps. Of several losses of a step it returns the first.
func validations(t *testing.T, folder string) (losses map[int]float64, last int) {
	content, err := os.ReadFile(filepath.Join(folder, metrics.FileName))
	require.NoError(t, err)
	losses = map[int]float64{}
	for line := range strings.Lines(string(content)) {
		var m struct {
			Step           int
			ValidationLoss *float64 `json:"validation_loss"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		if _, seen := losses[m.Step]; m.ValidationLoss != nil && !seen {
			losses[m.Step] = *m.ValidationLoss
		}
		last = max(last, m.Step)
	}
	return losses, last
}

// lowest returns the step of the lowest loss.
func lowest(losses map[int]float64) (step int) {
	for n, loss := range losses {
		if step == 0 || loss < losses[step] {
			step = n
		}
	}
	return step
}

// modelOf returns the bytes of the weights of a run, and the metadata.
func modelOf(t *testing.T, folder string) (weights string, metadata map[string]string) {
	f, err := safetensors.ReadFile(filepath.Join(folder, settings.ModelFile))
	require.NoError(t, err)
	return fmt.Sprint(f.Tensors), f.Metadata
}

// TestTrainBest: the model is from the step of the lowest validation loss, as if the run had ended there.
func TestTrainBest(t *testing.T) {
	folder, printed := tinyRun(t, append(worsening, "--best")...)
	losses, last := validations(t, folder)
	best := lowest(losses)
	require.Equal(t, 40, last)
	require.Less(t, best, 20, "the run is of no use for this test")
	weights, metadata := modelOf(t, folder)
	require.Equal(t, []string{"40", fmt.Sprint(best)}, []string{metadata["steps"], metadata["best"]})
	short, _ := tinyRun(t, append(worsening, "--steps", fmt.Sprint(best))...)
	want, metadata := modelOf(t, short)
	require.Equal(t, want, weights)
	require.NotContains(t, metadata, "best")

	require.Contains(t, printed,
		fmt.Sprintf("\nThe model is that of step %d, which has the lowest validation loss.\n", best))
	require.NotContains(t, printed, "The run ended")
	r, err := session.ReadReport(folder)
	require.NoError(t, err)
	require.Equal(t, best, r.Best)
	require.Equal(t, losses[best], *r.Losses.Validation)
	s, err := session.ReadReport(short)
	require.NoError(t, err)
	require.Equal(t, *s.Losses.Training, *r.Losses.Training)
	require.Zero(t, s.Best)
	require.Equal(t, sampled(t, printed), r.Sessions[0].Sample.Text)

	other, printed := tinyRun(t, worsening...)
	require.False(t, commandtest.Inspect(t, folder).Unfinished())
	require.NotContains(t, printed, "The model is that of")
	last40, _ := modelOf(t, other)
	require.NotEqual(t, last40, weights, "without --best the last one")
	_, lines := outcome(t, other)[metrics.FileName], outcome(t, folder)[metrics.FileName]
	require.Equal(t, outcome(t, other)[metrics.FileName], lines, "the training itself is the same")
}

// TestTrainBestOnParts: validations during training use random batches; the last one evaluates the best model on the
// whole split.
func TestTrainBestOnParts(t *testing.T) {
	folder, printed := tinyRun(t, append(worsening, "--best", "--eval-batches", "2")...)
	r, err := session.ReadReport(folder)
	require.NoError(t, err)
	short, _ := tinyRun(t, append(worsening, "--steps", fmt.Sprint(r.Best), "--eval-batches", "2")...)
	s, err := session.ReadReport(short)
	require.NoError(t, err)
	require.Equal(t, *s.Losses.Validation, *r.Losses.Validation, "over the whole text")
	require.Contains(t, printed, "That of validation is over the whole text")
	before := outcome(t, folder)
	resume(t, folder)
	require.Equal(t, before, outcome(t, folder))
}

// TestTrainPatience: a run ends after some validations without an improvement, and continues with more patience.
func TestTrainPatience(t *testing.T) {
	folder, printed := tinyRun(t, append(worsening, "--patience", "3", "--best")...)
	losses, last := validations(t, folder)
	best := lowest(losses)
	require.Equal(t, best+3*2, last)
	require.Contains(t, printed,
		fmt.Sprintf("\nThe run ended after %d of 40 steps: the last 3 validations were not lower.\n", last))
	r, err := session.ReadReport(folder)
	require.NoError(t, err)
	require.Equal(t, []any{session.Finished, last, best}, []any{r.Sessions[0].State, r.Sessions[0].To, r.Best})
	require.Contains(t, namesIn(t, filepath.Join(folder, settings.CheckpointsFolder)),
		fmt.Sprintf("step-%08d.safetensors", last))
	require.False(t, commandtest.Inspect(t, folder).Unfinished())

	before := outcome(t, folder)
	require.Contains(t, resume(t, folder), "\n0 steps in ")
	require.Equal(t, before, outcome(t, folder))
	resume(t, folder, "--patience", "0")
	whole, _ := tinyRun(t, append(worsening, "--best")...)
	for _, name := range []string{settings.ModelFile, metrics.FileName, session.LossPicture} {
		require.True(t, outcome(t, whole)[name] == outcome(t, folder)[name], name)
	}

	delta, printed := tinyRun(t, append(worsening, "--patience", "2", "--min-delta", "100")...)
	_, last = validations(t, delta)
	require.Equal(t, 6, last, "the first validation and two more")
	require.Contains(t, printed, "\nThe run ended after 6 of 40 steps: the last 2 validations were not lower by 100.\n")
}

// TestTrainBestStopped: Ctrl-C saves the best model so far. A run that continues afterwards ends with the result of an
// uninterrupted one.
func TestTrainBestStopped(t *testing.T) {
	dir := t.TempDir()
	text, calm, folder := filepath.Join(dir, "text"), filepath.Join(dir, "calm/run"), filepath.Join(dir, "stopped/run")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	flags := append([]string{"--best", "--patience", "9"}, worsening...)
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), append(tinyFlags(text, calm), flags...)...))
	losses, _ := validations(t, calm)
	best := lowest(losses)
	stopAfter(t, best+4, append(tinyFlags(text, folder), flags...)...)
	weights, metadata := modelOf(t, folder)
	require.Equal(t, fmt.Sprint(best), metadata["best"])
	want, _ := modelOf(t, calm)
	require.Equal(t, want, weights)
	stopAfter(t, best+8, "--resume", folder)
	resume(t, folder)
	requireSameOutcome(t, calm, folder)

	// Before the first validation there is no best one.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	folder = filepath.Join(dir, "early/run")
	err := trainTo(ctx, new(bytes.Buffer), append(tinyFlags(text, folder), flags...)...)
	require.True(t, err != nil && !strings.Contains(err.Error(), "best"), "%v", err)
	require.True(t, term.IsInterrupted(err) || strings.Contains(err.Error(), "holds no model"))
}

// TestTrainFrozen: frozen parameters keep their initial values and are counted separately.
func TestTrainFrozen(t *testing.T) {
	initial, _ := tinyRun(t, "--lr", "0", "--min-lr", "0")
	folder, printed := tinyRun(t, "--freeze", "tokens", "--freeze", "attention.W_*")
	tensors := func(folder string) *safetensors.File {
		f, err := safetensors.ReadFile(filepath.Join(folder, settings.ModelFile))
		require.NoError(t, err)
		return f
	}
	for _, tensor := range tensors(folder).Tensors {
		was, ok := tensors(initial).Get(tensor.Name)
		require.True(t, ok)
		frozen := strings.HasPrefix(tensor.Name, "tokens.") || strings.HasPrefix(tensor.Name, "attention.W_")
		require.Equal(t, frozen, fmt.Sprint(was.Data) == fmt.Sprint(tensor.Data), tensor.Name)
	}
	require.Contains(t, strings.Join(strings.Fields(printed), " "),
		fmt.Sprintf("%d parameters, of which %d are frozen", 2*28*8+6*8+28+4*64+8, 28*8+3*64))
	r, err := session.ReadReport(folder)
	require.NoError(t, err)
	require.Equal(t, []int{2*28*8 + 6*8 + 28 + 4*64 + 8, 28*8 + 3*64}, []int{r.Parameters, r.Frozen})
	require.Contains(t, r.Sessions[0].Command, " --freeze tokens --freeze 'attention.W_*'")

	grouped, printed := tinyRun(t, "--group", "tokens:lr_factor=0,weight_decay=0.1",
		"--group", "attention.W_*:lr_factor=0")
	require.Equal(t, tensors(initial).Tensors[0], tensors(grouped).Tensors[0])
	require.Contains(t, strings.Join(strings.Fields(printed), " "),
		"tokens: lr_factor=0 weight_decay=0.1, attention.W_*: lr_factor=0")
}
