package train

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/safetensors"
	"attention/internal/simd"
	"attention/internal/small"

	"github.com/stretchr/testify/require"
)

// TestTrainInBFloat16: a bf16 run that was stopped and resumed ends with the bits of an uninterrupted one. They differ
// from those of a run in full precision. A resumed run reports a change of the precision.
func TestTrainInBFloat16(t *testing.T) {
	t.Setenv("ATTENTION_BF16", "emulated")
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	flags := func(name string, more ...string) []string {
		return slices.Concat(tinyFlags(text, filepath.Join(dir, name, "run")), tinyGPT, more,
			[]string{"--dropout", "0.2", "--keep", "1"})
	}
	folder := func(name string) string { return filepath.Join(dir, name, "run") }
	var out strings.Builder
	require.NoError(t, trainTo(t.Context(), &out, flags("calm", "--precision", "bf16")...))
	require.Contains(t, strings.Join(strings.Fields(out.String()), " "), "float32, products of bf16: ")
	stopAfter(t, 5, flags("stopped", "--precision", "bf16")...)
	require.NotContains(t, resume(t, folder("stopped")), "precision")
	requireSameOutcome(t, folder("calm"), folder("stopped"))
	require.NoError(t, trainTo(t.Context(), new(strings.Builder), flags("full")...))
	require.NotEqual(t, outcome(t, folder("calm"))["model.safetensors"], outcome(t, folder("full"))["model.safetensors"])

	config, err := models.ReadConfig(folder("calm"), settings.Train)
	require.NoError(t, err)
	require.Equal(t, "bf16", config.Precision)
	for _, c := range []struct{ name, want string }{{"stopped", `"bf16"`}, {"full", `"full"`}} {
		paths, err := filepath.Glob(filepath.Join(folder(c.name), settings.CheckpointsFolder, "*.safetensors"))
		require.NoError(t, err)
		f, err := safetensors.ReadFile(paths[len(paths)-1])
		require.NoError(t, err)
		require.Equal(t, c.want, small.State(f, "precision"))
	}
	require.Contains(t, resume(t, folder("stopped"), "--precision", "full", "--steps", "14"),
		"attention: --resume: the checkpoint was written in the precision \"bf16\", which now is another: bits differ")
	require.Contains(t, resume(t, folder("full"), "--precision", "bf16", "--steps", "14"), "in the precision \"full\"")
}

// resumedVariable is the environment variable with the folder that TestResumeInBFloat16Elsewhere resumes.
const resumedVariable = "TRAIN_TEST_RESUMED"

// TestResumeInBFloat16Elsewhere: a run that began in bf16 is resumed where a new bf16 run is refused. It has the same
// bits, and a line says so.
func TestResumeInBFloat16Elsewhere(t *testing.T) {
	if folder := os.Getenv(resumedVariable); folder != "" {
		require.ErrorContains(t, simd.CheckBF16(), "bf16: ")
		printed := resume(t, folder)
		require.Contains(t, printed, ": the run goes on in it all the same\n")
		require.NoError(t, simd.CheckBF16())
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("GODEBUG hides no instructions")
	}
	t.Setenv("ATTENTION_BF16", "emulated")
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	flags := func(name string) []string {
		return slices.Concat(tinyFlags(text, filepath.Join(dir, name, "run")), tinyGPT,
			[]string{"--precision", "bf16", "--keep", "1"})
	}
	require.NoError(t, trainTo(t.Context(), new(strings.Builder), flags("calm")...))
	stopAfter(t, 5, flags("stopped")...)
	elsewhere := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestResumeInBFloat16Elsewhere$")
	elsewhere.Env = append(os.Environ(), "GODEBUG=cpu.avx512bf16=off", simd.BF16Variable+"=",
		resumedVariable+"="+filepath.Join(dir, "stopped", "run"))
	out, err := elsewhere.CombinedOutput()
	require.NoError(t, err, "%s", out)
	requireSameOutcome(t, filepath.Join(dir, "calm", "run"), filepath.Join(dir, "stopped", "run"))
}

// bf16 is refused for float64, and if the processor or the environment does not support it.
func TestTrainRefusesPrecision(t *testing.T) {
	for _, c := range []struct{ environment, flags, want string }{
		{"emulated", "--precision fp8", `--precision: got "fp8", want one of full, bf16`},
		{"emulated", "--precision bf16 --dtype float64", "--precision: got bf16 of float64, want it of float32"},
		{"fast", "--precision bf16", `--precision: ATTENTION_BF16: got "fast", want emulated or nothing`},
	} {
		t.Setenv("ATTENTION_BF16", c.environment)
		_, err := commandtest.Output(t.Context(), New(), append(strings.Fields(c.flags), "--out", t.TempDir())...)
		require.ErrorContains(t, err, c.want)
	}
	t.Setenv("ATTENTION_BF16", "")
	if refused := simd.CheckBF16(); refused != nil { // other processors accept it
		_, err := commandtest.Output(t.Context(), New(), "--precision", "bf16", "--out", t.TempDir())
		require.EqualError(t, err, "--precision: "+refused.Error())
	}
}
