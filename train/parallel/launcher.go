package parallel

import (
	"fmt"
	"strconv"
)

// launcher describes the launcher that started the processes of this program.
type launcher struct {
	name  string
	size  int    // 0 if the environment does not say
	mpich bool   // whether its library is MPICH or derived from it
	path  string // of the library, "" for the usual ones
}

// launcherOf returns what started this process together with other processes, nil if nothing did. A launcher
// whose processes do not speak MPI is an error.
func launcherOf(env func(name string) string) (*launcher, error) {
	size := func(name string) int {
		n, _ := strconv.Atoi(env(name)) // 0 if there is none
		return n
	}
	path := env(Library)
	if n := size("OMPI_COMM_WORLD_SIZE"); n > 0 {
		return &launcher{name: "mpirun of Open MPI", size: n, path: path}, nil
	}
	if n := size("PMI_SIZE"); n > 0 {
		return &launcher{name: "mpiexec of MPICH", size: n, mpich: true, path: path}, nil
	}
	tasks := size("SLURM_STEP_NUM_TASKS")
	if env("PMIX_RANK") != "" {
		return &launcher{name: "a launcher with PMIx", size: tasks, path: path}, nil
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

// first reports whether this process is the first of a launcher's on its machine, by the environment, or was started
// alone.
func first(env func(name string) string) bool {
	for _, name := range []string{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "LOCAL_RANK"} {
		if rank := env(name); rank != "" {
			return rank == "0"
		}
	}
	return true
}
