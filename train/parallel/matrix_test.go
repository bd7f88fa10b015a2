//go:build mpi && linux && (amd64 || arm64)

package parallel_test

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// program builds attention with tags, once for all tests.
func program(t *testing.T, tags string) string {
	if built == "" {
		built = must(os.MkdirTemp("", "attention"))
	}
	path := filepath.Join(built, "attention"+tags)
	if _, err := os.Stat(path); err != nil {
		build := exec.Command("go", "build", "-tags", tags, "-o", path, "attention/cmd/attention")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return path
}

var built string

func TestMain(m *testing.M) {
	if failing := os.Getenv(failingRank); failing != "" {
		os.Exit(joinAndFail(failing))
	}
	if n := os.Getenv(unlikeBytes); n != "" {
		os.Exit(joinUnlike(n))
	}
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// mpirun returns the command that runs attention train in n processes.
func mpirun(t *testing.T, n int, args ...string) *exec.Cmd {
	return mpirunOf(t, n, append([]string{program(t, "mpi"), "train"}, args...)...)
}

// mpirunOf returns the command that runs a command in n processes, for Open MPI or MPICH.
func mpirunOf(t *testing.T, n int, command ...string) *exec.Cmd {
	flags := append([]string{"-np", strconv.Itoa(n)}, command...)
	if isOpenMPI(t) {
		flags = append([]string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}, flags...)
	}
	return exec.Command(launcher(), flags...)
}

// launcher is the mpirun of the tests: that of the environment variable MPIRUN, if several are installed.
func launcher() string { return cmp.Or(os.Getenv("MPIRUN"), "mpirun") }

// isOpenMPI reports whether mpirun is Open MPI's. It skips the test if there is no mpirun.
func isOpenMPI(t *testing.T) bool {
	if _, err := exec.LookPath(launcher()); err != nil {
		t.Skip("there is no mpirun: matrix.sh installs it")
	}
	version, _ := exec.Command(launcher(), "--version").CombinedOutput()
	return bytes.Contains(version, []byte("Open MPI"))
}

const smallRun = "--model gpt --layers 2 --width 16 --heads 2 --context 8 --batch 2 --accumulate 6 --steps 8 " +
	"--dropout 0.2 --clip 0.5 --eval-every 3 --eval-batches 4 --best --save-every 3 --keep 9 --sample 5 --out "

func runTrain(t *testing.T, n int, args string) string {
	cmd := mpirun(t, n, strings.Fields(args)...)
	if n == 0 {
		cmd = exec.Command(program(t, "mpi"), append([]string{"train"}, strings.Fields(args)...)...)
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

var speed = regexp.MustCompile(`,"tokens_per_second":[^}]*`)

// outcome returns the model and the metrics of a run, without its speeds.
func outcome(t *testing.T, folder string) (model, metrics string) {
	weights := must(os.ReadFile(filepath.Join(folder, "model.safetensors")))
	lines := must(os.ReadFile(filepath.Join(folder, "metrics.jsonl")))
	return string(weights), speed.ReplaceAllString(string(lines), "")
}

func requireSame(t *testing.T, want, got string) {
	model, metrics := outcome(t, want)
	otherModel, otherMetrics := outcome(t, got)
	require.Equal(t, metrics, otherMetrics)
	require.True(t, model == otherModel, "models of %s and %s", want, got)
}

// A run has the same bits alone and in any number of processes.
func TestMPIGivesTheSameRun(t *testing.T) {
	for i, flags := range []string{"", " --dtype float64 --solver adam", " --solver sgd --momentum 0.9", " --solver sgd"} {
		t.Run(flags, func(t *testing.T) {
			dir := t.TempDir()
			alone := filepath.Join(dir, "alone")
			runTrain(t, 0, smallRun+alone+flags)
			for n := 1; n <= 4; n++ {
				if testing.Short() && i > 0 && n != 3 {
					continue // with -short, the other solvers run with one number of processes
				}
				together := filepath.Join(dir, strconv.Itoa(n))
				printed := runTrain(t, n, smallRun+together+flags)
				require.Equal(t, 1, strings.Count(printed, "\nprocesses "+strconv.Itoa(n)), printed)
				requireSame(t, alone, together)
			}
		})
	}
}
