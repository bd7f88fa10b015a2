package parallel

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// launcher describes the program that started these processes together.
type launcher struct {
	name    string
	size    int    // 0 if the environment does not say
	mpich   bool   // whether its library is MPICH or derived from it
	path    string // of the library, "" for the usual ones
	ranked  string // the environment variable with the rank
	rank    string // "" if the environment does not say
	sharing int    // number of processes on this machine; 0 if the environment does not say
}

// launcherOf returns the launcher that started this process together with others, or nil if there is none. A launcher
// whose processes cannot use MPI is an error.
func launcherOf(env func(name string) string) (*launcher, error) {
	size := func(name string) int {
		n, _ := strconv.Atoi(env(name)) // 0 if there is none
		return n
	}
	path := env(Library)
	if n := size("OMPI_COMM_WORLD_SIZE"); n > 0 {
		return (&launcher{name: "mpirun of Open MPI", size: n, path: path, ranked: "OMPI_COMM_WORLD_RANK",
			sharing: size("OMPI_COMM_WORLD_LOCAL_SIZE")}).withRank(env), nil
	}
	if n := size("PMI_SIZE"); n > 0 {
		return (&launcher{name: "mpiexec of MPICH", size: n, mpich: true, path: path, ranked: "PMI_RANK",
			sharing: size("MPI_LOCALNRANKS")}).withRank(env), nil
	}
	tasks := size("SLURM_STEP_NUM_TASKS")
	if env("PMIX_RANK") != "" {
		return (&launcher{name: "a launcher with PMIx", size: tasks, path: path,
			ranked: "PMIX_RANK"}).withRank(env), nil
	}
	const want = "want mpirun, which starts them with MPI"
	if tasks > 1 {
		return nil, fmt.Errorf("parallel: srun: got %d processes without MPI, want srun --mpi=pmix, or mpirun", tasks)
	}
	if n := size("WORLD_SIZE"); n > 1 && env("RANK") != "" {
		return nil, fmt.Errorf("parallel: WORLD_SIZE: got %d processes, as of torchrun, %s", n, want)
	}
	return nil, nil
}

// withRank returns the launcher with this process's rank.
func (l *launcher) withRank(env func(name string) string) *launcher {
	l.rank = env(l.ranked)
	return l
}

// named returns an error of this process that names the launcher and the rank.
func (l *launcher) named(err error) error {
	if l.rank == "" {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	return fmt.Errorf("%s: rank %.10s: %w", l.name, l.rank, err)
}

// speaks reports whether this process prints the error of Join. If a launcher started several processes on a machine,
// the first one that calls speaks prints. If this is unknown, it is the first process by the environment.
func speaks() bool {
	asked.once.Do(func() { asked.first = firstToAsk(jobOf(os.Getenv), first(os.Getenv)) })
	return asked.first
}

var asked struct {
	once  sync.Once
	first bool
	held  net.Listener // held as long as the process lives
}

// jobOf returns a name that is the same for all processes on a machine that one launcher started together.
func jobOf(env func(name string) string) string {
	for _, name := range []string{"PMIX_NAMESPACE", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"} {
		if job := env(name); job != "" {
			return fmt.Sprintf("%.40q-%.10q", job, env("SLURM_STEP_ID"))
		}
	}
	return strconv.Itoa(os.Getppid())
}

// firstToAsk reports whether no other process holds the name of the job, and then holds it: as a Linux socket without a
// file, which closes when the process ends.
func firstToAsk(job string, otherwise bool) bool {
	if runtime.GOOS != "linux" {
		return otherwise
	}
	held, err := net.Listen("unix", fmt.Sprintf("@attention-%d-%s", os.Getuid(), job))
	if errors.Is(err, syscall.EADDRINUSE) {
		return false
	}
	if err != nil {
		return otherwise
	}
	asked.held = held
	return true
}

// first reports, by the environment, whether this process is the first on its machine that a launcher started, or was
// started alone.
func first(env func(name string) string) bool {
	for _, name := range []string{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "LOCAL_RANK"} {
		if rank := env(name); rank != "" {
			return rank == "0"
		}
	}
	return true
}
