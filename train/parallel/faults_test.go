//go:build mpi && linux && (amd64 || arm64)

package parallel_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"attention/train/checkpoint"
	"attention/train/parallel"

	"github.com/stretchr/testify/require"
)

// until waits until metrics.jsonl has a number of steps.
func until(t *testing.T, folder string, steps int) {
	require.Eventually(t, func() bool {
		lines, _ := os.ReadFile(filepath.Join(folder, "metrics.jsonl"))
		return bytes.Count(lines, []byte("grad_norm")) >= steps
	}, time.Minute, 10*time.Millisecond)
}

// children returns the processes that a process started.
func children(t *testing.T, parent int) (all []int) {
	out := must(exec.Command("ps", "-o", "pid=", "--ppid", strconv.Itoa(parent)).Output())
	for _, field := range strings.Fields(string(out)) {
		all = append(all, must(strconv.Atoi(field)))
	}
	slices.Sort(all)
	return all
}

// ranksOf returns the processes of a job. MPICH's mpirun starts them through another process.
func ranksOf(t *testing.T, job *exec.Cmd) []int {
	started := children(t, job.Process.Pid)
	if isOpenMPI(t) {
		return started
	}
	require.Len(t, started, 1)
	return children(t, started[0])
}

const long = "--width 16 --context 8 --batch 2 --accumulate 4 --steps %d --decay-steps 400 --eval-every 0 " +
	"--save-every 10 --dropout 0.1 --sample 0 --out "

// A job ends soon after one of its processes is killed. It resumes with another number of processes, and gives the bits
// of a run that was not interrupted.
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
		ranks := ranksOf(t, job)
		require.Len(t, ranks, n)
		require.NoError(t, syscall.Kill(ranks[i%n], syscall.SIGKILL))
		begin := time.Now()
		require.Error(t, job.Wait())
		require.Less(t, time.Since(begin), 10*time.Second)
		require.LessOrEqual(t, strings.Count(printed.String(), "\nattention: "), 1, printed.String())
		require.Regexp(t, `exited on signal 9 \(Killed\)|KILLED BY SIGNAL: 9|EXIT CODE: 9`, printed.String())

		checkpoints := must(filepath.Glob(filepath.Join(folder, "checkpoints", "step-*")))
		newest, steps := "", 0
		if len(checkpoints) > 0 {
			newest = filepath.Base(slices.Max(checkpoints))
			steps = must(strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(newest, "step-"), ".safetensors")))
		}
		steps += 5
		runTrain(t, 1+(i+1)%4, "--resume "+folder+" --steps "+strconv.Itoa(steps))
		alone := folder + "alone"
		runTrain(t, 0, fmt.Sprintf(long, steps)+alone)
		requireSame(t, alone, folder)
	}
}

// SIGUSR1 to mpirun finishes the step, saves and exits with 0. MPICH also has a handler for this signal, which is not
// compatible with Go's: one time in six it ended a process.
func TestMPIFinishes(t *testing.T) {
	times := 12
	if isOpenMPI(t) {
		times = 2
	}
	for i := range times {
		folder := filepath.Join(t.TempDir(), strconv.Itoa(i))
		job := mpirun(t, 3, strings.Fields(fmt.Sprintf(long, 100000)+folder)...)
		var printed bytes.Buffer
		job.Stdout, job.Stderr = &printed, &printed
		require.NoError(t, job.Start())
		until(t, folder, 12)
		require.NoError(t, job.Process.Signal(syscall.SIGUSR1))
		require.NoError(t, job.Wait(), printed.String())
		want := `stopped after \d+ of 100000 steps; resume with: .* train --resume ` + folder
		require.Regexp(t, want, printed.String())
		require.FileExists(t, filepath.Join(folder, "model.safetensors"))
	}
}

// Ctrl-C finishes the step and saves, if this takes less time than mpirun allows.
func TestMPIInterrupted(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	job := mpirun(t, 2, strings.Fields(fmt.Sprintf(long, 100000)+folder)...)
	var printed bytes.Buffer
	job.Stdout, job.Stderr = &printed, &printed
	require.NoError(t, job.Start())
	until(t, folder, 12)
	require.NoError(t, job.Process.Signal(os.Interrupt))
	begin := time.Now()
	if err := job.Wait(); isOpenMPI(t) {
		require.Error(t, err)
	} else { // MPICH waits for the processes, and exits with the code of any of them
		require.Contains(t, printed.String(), "attention: train: stopped after ")
	}
	require.Less(t, time.Since(begin), 10*time.Second)
	require.LessOrEqual(t, strings.Count(printed.String(), "attention: "), 1, printed.String())
	steps := slices.Max(must(checkpoint.Steps(filepath.Join(folder, "checkpoints")))) + 5
	runTrain(t, 3, "--resume "+folder+" --steps "+strconv.Itoa(steps))
	alone := folder + "alone"
	runTrain(t, 0, fmt.Sprintf(long, steps)+alone)
	requireSame(t, alone, folder)
}

// A full disk ends all processes with one line, and the last checkpoint stays.
func TestMPIFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=600k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	defer func() { require.NoError(t, syscall.Unmount(disk, 0)) }()
	folder := filepath.Join(disk, "run")
	begin := time.Now()
	out, err := mpirun(t, 3, strings.Fields(fmt.Sprintf(long, 2000)+folder+" --keep 9")...).CombinedOutput()
	require.Error(t, err)
	require.Less(t, time.Since(begin), 30*time.Second)
	require.Contains(t, string(out), "no space left on device")
	require.Equal(t, 1, bytes.Count(out, []byte("attention: ")), "%s", out)
	require.NotEmpty(t, must(checkpoint.Steps(filepath.Join(folder, "checkpoints"))))
}

// failingRank is the environment variable for joinAndFail.
const failingRank = "PARALLEL_TEST_FAILING_RANK"

// joinAndFail is a user's program in which one process fails between Join and Run, and still closes its group.
func joinAndFail(rank string) int {
	m, _, err := parallel.Join()
	if err == nil && strconv.Itoa(m.Rank()) != rank {
		err = m.Agree(nil) // where Run begins
	}
	if closed := m.Close(); closed != nil {
		err = closed
	}
	if err != nil || strconv.Itoa(m.Rank()) == rank {
		fmt.Fprintln(os.Stderr, "failed:", err)
		return 1
	}
	return 0
}

// unlikeBytes is the environment variable for joinUnlike.
const unlikeBytes = "PARALLEL_TEST_UNLIKE_BYTES"

// joinUnlike is a user's program whose first process exchanges 100 bytes, while the others exchange another number.
func joinUnlike(bytes string) int {
	m, _, err := parallel.Join()
	if err != nil {
		return 2
	}
	n := 100
	if m.Rank() > 0 {
		n, _ = strconv.Atoi(bytes)
	}
	if _, err := m.Gather(make([]byte, n), slices.Repeat([]int{n}, m.Size())); err != nil {
		return 1
	}
	_ = m.Close()
	return 0
}

// A message that is longer or shorter than a process expects ends the group.
func TestMPIUnlikeMessages(t *testing.T) {
	for n, want := range map[int]int{1: 1, 99: 1, 100: 0, 101: 1, 1 << 20: 1} {
		job := mpirunOf(t, 2, os.Args[0])
		job.Env = append(os.Environ(), unlikeBytes+"="+strconv.Itoa(n))
		begin := time.Now()
		out, err := job.CombinedOutput()
		require.Equal(t, want == 0, err == nil, "%d: %s", n, out)
		require.Less(t, time.Since(begin), 10*time.Second)
		if want > 0 {
			require.Regexp(t, `parallel: rank [01] ends the group: .*: got (more than )?\d+ bytes of rank [01], want \d+: `+
				`the two do not do the same`, string(out))
		}
	}
}

// A process that leaves before the others are done ends all processes.
func TestMPIFailsBeforeRun(t *testing.T) {
	for n := 2; n <= 4; n++ {
		for rank := range n {
			job := mpirunOf(t, n, os.Args[0])
			job.Env = append(os.Environ(), failingRank+"="+strconv.Itoa(rank))
			begin := time.Now()
			out, err := job.CombinedOutput()
			require.Error(t, err)
			require.Less(t, time.Since(begin), 10*time.Second)
			require.Equal(t, 1, bytes.Count(out, []byte("failed: ")), "%s", out)
			require.Contains(t, string(out), "failed: parallel: close: got a message of another process")
		}
	}
}

// A program without MPI, or with another MPI library than mpirun's, reports this only once.
func TestMPIMissing(t *testing.T) {
	out, err := mpirunOf(t, 3, program(t, "default"), "train", "--out", filepath.Join(t.TempDir(), "run")).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "got a program without MPI, want one built with CGO_ENABLED=0 go build -tags mpi")
	require.Equal(t, 1, bytes.Count(out, []byte("attention: ")), "%s", out)
	job := mpirun(t, 3, "--out", filepath.Join(t.TempDir(), "run"))
	job.Env = append(os.Environ(), parallel.Library+"=/no/libmpi.so")
	out, err = job.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 1, bytes.Count(out, []byte("attention: ")), "%s", out)
	require.Contains(t, string(out), "or name the library with ATTENTION_MPI")
}

// Processes that differ end soon, with one line that names a rank and the difference.
func TestMPIOfOtherKinds(t *testing.T) {
	old := filepath.Join(t.TempDir(), "run")
	runTrain(t, 0, smallRun+old)
	with, without := program(t, "mpi"), program(t, "default")
	begins := append([]string{with, "train"}, strings.Fields(smallRun+filepath.Join(t.TempDir(), "run"))...)
	resumes := []string{with, "train", "--resume", old, "--steps", "12"}
	bare := append([]string{without}, begins[1:]...)
	help := []string{with, "train", "--help"}
	later := append([]string{"sh", "-c", `sleep 0.5; "$0" "$@"; exit $?`}, begins...) // mpirun notices later ends
	const left = "rank 0 has ended without joining the other processes, want all to do the same"
	for _, row := range []struct {
		name  string
		ranks [][]string
		want  string
	}{
		{"one resumes", [][]string{begins, resumes},
			`rank 1: got another task than rank 0, "--resume of a run", want its "a new run"`},
		{"one begins", [][]string{resumes, resumes, begins},
			`rank 2: got another task than rank 0, "a new run", want its "--resume of a run"`},
		{"the first without MPI", [][]string{bare, begins}, "rank 0: got a program without MPI"},
		{"the last without MPI", [][]string{begins, begins, bare}, "rank 2: got a program without MPI"},
		{"the first prints help", [][]string{help, later, later}, left},
		{"a script ends", [][]string{{"sh", "-c", "true"}, later}, left},
	} {
		t.Run(row.name, func(t *testing.T) {
			job := mpirunOf(t, 1, row.ranks[0]...)
			for _, command := range row.ranks[1:] {
				job.Args = append(append(job.Args, ":", "-np", "1"), command...)
			}
			begin := time.Now()
			out, err := job.CombinedOutput()
			require.Error(t, err)
			require.Less(t, time.Since(begin), 10*time.Second)
			require.Contains(t, string(out), row.want)
			require.Equal(t, 1, bytes.Count(out, []byte("attention: ")), "%s", out)
		})
	}
}

// An error of one process is one line of our own.
func TestMPIFails(t *testing.T) {
	for _, row := range []struct{ name, flags, want string }{
		{"few batches", "--accumulate 1", "attention: train: --accumulate: got 1 with 2 processes, want at least 2"},
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

// A processor with other vector instructions adds in another order: its process is refused with an error that names it.
// On amd64 GODEBUG hides the instructions.
func TestMPIOtherKernels(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("GODEBUG cannot hide NEON")
	}
	one := func(command ...string) []string {
		return append(command, program(t, "mpi"), "train", "--accumulate", "2", "--out", filepath.Join(t.TempDir(), "run"))
	}
	job := mpirunOf(t, 1, one()...)
	job.Args = append(job.Args, ":", "-np", "1")
	job.Args = append(job.Args, one("env", "GODEBUG=cpu.avx512f=off,cpu.avx2=off")...)
	out, err := job.CombinedOutput()
	require.Error(t, err)
	require.Regexp(t, `train: group: rank 1: got another program than rank 0, ".* go", want its ".* avx`, string(out))
	require.Equal(t, 1, bytes.Count(out, []byte("attention: ")), "%s", out)
}
