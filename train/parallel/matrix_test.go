//go:build mpi && linux && (amd64 || arm64)

package parallel_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program builds attention with MPI, once for all tests.
func program(t *testing.T) string {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("there is no mpirun: matrix.sh installs it")
	}
	if built == "" {
		dir, err := os.MkdirTemp("", "attention")
		require.NoError(t, err)
		built = filepath.Join(dir, "attention")
		build := exec.Command("go", "build", "-tags", "mpi", "-o", built, "attention/cmd/attention")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return built
}

var built string

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(filepath.Dir(built))
	}
	os.Exit(code)
}

// mpirun returns mpirun of n processes, of Open MPI or MPICH.
func mpirun(t *testing.T, n int, args ...string) *exec.Cmd {
	flags := []string{"-np", strconv.Itoa(n), program(t), "train"}
	version, _ := exec.Command("mpirun", "--version").CombinedOutput()
	if bytes.Contains(version, []byte("Open MPI")) {
		flags = append([]string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}, flags...)
	}
	return exec.Command("mpirun", append(flags, args...)...)
}

const small = "--model gpt --layers 2 --width 16 --heads 2 --context 8 --batch 2 --accumulate 6 --steps 8 " +
	"--dropout 0.2 --clip 0.5 --eval-every 3 --eval-batches 4 --best --save-every 3 --keep 9 --sample 5 --out "

func train(t *testing.T, n int, args string) string {
	cmd := mpirun(t, n, strings.Fields(args)...)
	if n == 0 {
		cmd = exec.Command(program(t), append([]string{"train"}, strings.Fields(args)...)...)
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

var speed = regexp.MustCompile(`,"tokens_per_second":[^}]*`)

// outcome returns the model and the metrics of a run, without its speed.
func outcome(t *testing.T, folder string) (model, metrics string) {
	weights, err := os.ReadFile(filepath.Join(folder, "model.safetensors"))
	require.NoError(t, err)
	lines, err := os.ReadFile(filepath.Join(folder, "metrics.jsonl"))
	require.NoError(t, err)
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
	for _, flags := range []string{"", " --dtype float64 --solver adam", " --solver sgd --momentum 0.9", " --solver sgd"} {
		t.Run(flags, func(t *testing.T) {
			dir := t.TempDir()
			alone := filepath.Join(dir, "alone")
			train(t, 0, small+alone+flags)
			for n := 1; n <= 4; n++ {
				together := filepath.Join(dir, strconv.Itoa(n))
				printed := train(t, n, small+together+flags)
				require.Equal(t, 1, strings.Count(printed, "\nprocesses "+strconv.Itoa(n)), printed)
				requireSame(t, alone, together)
			}
		})
	}
}

// until waits for a number of steps in metrics.jsonl.
func until(t *testing.T, folder string, steps int) {
	require.Eventually(t, func() bool {
		lines, _ := os.ReadFile(filepath.Join(folder, "metrics.jsonl"))
		return bytes.Count(lines, []byte("grad_norm")) >= steps
	}, time.Minute, 10*time.Millisecond)
}

// children returns the processes that a process started.
func children(t *testing.T, parent int) (all []int) {
	out, err := exec.Command("ps", "-o", "pid=", "--ppid", strconv.Itoa(parent)).Output()
	require.NoError(t, err)
	for _, field := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(field)
		require.NoError(t, err)
		all = append(all, pid)
	}
	slices.Sort(all)
	return all
}

const long = "--width 16 --context 8 --batch 2 --accumulate 4 --steps %d --decay-steps 400 --eval-every 0 " +
	"--save-every 10 --dropout 0.1 --sample 0 --out "

// A job ends soon after one of its processes is killed, and resumes with another number of them and the
// bits of one that was left alone.
func TestMPIKilled(t *testing.T) {
	dir := t.TempDir()
	kills := 20
	if testing.Short() {
		kills = 2
	}
	for i := range kills {
		n := 2 + i%3
		folder := filepath.Join(dir, strconv.Itoa(i))
		job := mpirun(t, n, strings.Fields(fmt.Sprintf(long, 100000)+folder)...)
		var printed bytes.Buffer
		job.Stdout, job.Stderr = &printed, &printed
		require.NoError(t, job.Start())
		until(t, folder, 10+7*i)
		ranks := children(t, job.Process.Pid)
		require.Len(t, ranks, n)
		require.NoError(t, syscall.Kill(ranks[i%n], syscall.SIGKILL))
		begin := time.Now()
		require.Error(t, job.Wait())
		require.Less(t, time.Since(begin), 10*time.Second)
		require.LessOrEqual(t, strings.Count(printed.String(), "\nattention: "), 1, printed.String())
		require.Contains(t, printed.String(), "exited on signal 9 (Killed)")

		checkpoints, err := filepath.Glob(filepath.Join(folder, "checkpoints", "step-*"))
		require.NoError(t, err)
		newest, steps := "", 0
		if len(checkpoints) > 0 {
			newest = filepath.Base(slices.Max(checkpoints))
			steps, err = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(newest, "step-"), ".safetensors"))
			require.NoError(t, err)
		}
		steps += 5
		train(t, 1+(i+1)%4, "--resume "+folder+" --steps "+strconv.Itoa(steps))
		alone := folder + "alone"
		train(t, 0, fmt.Sprintf(long, steps)+alone)
		requireSame(t, alone, folder)
	}
}

// SIGUSR1 to mpirun finishes the step, saves and ends with 0.
func TestMPIFinishes(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	job := mpirun(t, 3, strings.Fields(fmt.Sprintf(long, 100000)+folder)...)
	var printed bytes.Buffer
	job.Stdout = &printed
	require.NoError(t, job.Start())
	until(t, folder, 12)
	require.NoError(t, job.Process.Signal(syscall.SIGUSR1))
	require.NoError(t, job.Wait())
	require.Regexp(t, `train: stopped after \d+ of 100000 steps; resume with: .* train --resume `+folder, printed.String())
	require.FileExists(t, filepath.Join(folder, "model.safetensors"))
}

// What one process refuses or finds is one line of ours.
func TestMPIFails(t *testing.T) {
	for _, row := range []struct{ name, flags, want string }{
		{"few batches", "--accumulate 1", "attention: --accumulate: got 1 with 2 processes, want at least 2"},
		{"not finite", "--accumulate 4 --lr 1e30 --sample 0", "rank 0: micro-batch 1 of 4: loss: got "},
	} {
		t.Run(row.name, func(t *testing.T) {
			flags := append(strings.Fields(row.flags), "--out", filepath.Join(t.TempDir(), "run"))
			out, err := mpirun(t, 2, flags...).CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(out), row.want)
			require.Equal(t, 1, bytes.Count(out, []byte("attention: ")), "%s", out)
		})
	}
}
