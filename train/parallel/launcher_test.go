package parallel

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLauncher(t *testing.T) {
	for _, row := range []struct {
		name string
		env  map[string]string
		want *launcher
		err  string
	}{
		{name: "alone", env: map[string]string{"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}}, // as in an sbatch script
		{name: "Open MPI", env: map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "1", Library: "/x/libmpi.so",
			"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"},
			want: &launcher{name: "mpirun of Open MPI", size: 4, path: "/x/libmpi.so", ranked: "OMPI_COMM_WORLD_RANK",
				rank: "1", sharing: 2}},
		{name: "MPICH", env: map[string]string{"PMI_SIZE": "2", "PMI_RANK": "1", "MPI_LOCALNRANKS": "2"},
			want: &launcher{name: "mpiexec of MPICH", size: 2, mpich: true, ranked: "PMI_RANK", rank: "1", sharing: 2}},
		{name: "srun --mpi=pmix", env: map[string]string{"PMIX_RANK": "1", "SLURM_STEP_NUM_TASKS": "8"},
			want: &launcher{name: "a launcher with PMIx", size: 8, ranked: "PMIX_RANK", rank: "1"}},
		{name: "srun", env: map[string]string{"SLURM_STEP_NUM_TASKS": "8"},
			err: "parallel: srun: got 8 processes without MPI, want srun --mpi=pmix, or mpirun"},
		{name: "srun of one", env: map[string]string{"SLURM_STEP_NUM_TASKS": "1"}},
		{name: "torchrun", env: map[string]string{"WORLD_SIZE": "2", "RANK": "0"},
			err: "parallel: WORLD_SIZE: got 2 processes, as of torchrun, want mpirun, which starts them with MPI"},
		{name: "no number", env: map[string]string{"WORLD_SIZE": "many", "OMPI_COMM_WORLD_SIZE": ""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := launcherOf(func(name string) string { return row.env[name] })
			if row.err != "" {
				require.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.want, got)
		})
	}
}

// One process of each machine reports an error that all processes have.
func TestFirst(t *testing.T) {
	for _, row := range []struct {
		name string
		env  map[string]string
		want bool
	}{
		{name: "alone", want: true},
		{name: "Open MPI", env: map[string]string{"OMPI_COMM_WORLD_LOCAL_RANK": "0"}, want: true},
		{name: "Open MPI in a job of Slurm", env: map[string]string{"OMPI_COMM_WORLD_LOCAL_RANK": "1", "SLURM_LOCALID": "0"}},
		{name: "MPICH", env: map[string]string{"MPI_LOCALRANKID": "3"}},
		{name: "srun", env: map[string]string{"SLURM_LOCALID": "1"}},
		{name: "torchrun", env: map[string]string{"LOCAL_RANK": "1", "RANK": "9"}},
	} {
		require.Equal(t, row.want, first(func(name string) string { return row.env[name] }), row.name)
	}
}

// The first process of a job that calls firstToAsk holds its name, and others do not.
func TestFirstToAsk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are no sockets without a file")
	}
	held := asked.held
	defer func() { asked.held = held }()
	job := t.Name() + strconv.Itoa(os.Getpid())
	require.True(t, firstToAsk(job, false))
	defer asked.held.Close()
	require.False(t, firstToAsk(job, true))
	other := asked.held
	require.True(t, firstToAsk(job+"other", false))
	require.NoError(t, asked.held.Close())
	asked.held = other
	env := map[string]string{"PMIX_NAMESPACE": "123"}
	require.Equal(t, `"123"-""`, jobOf(func(name string) string { return env[name] }))
	env = map[string]string{"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "2"}
	require.Equal(t, `"7"-"2"`, jobOf(func(name string) string { return env[name] }))
	require.Equal(t, strconv.Itoa(os.Getppid()), jobOf(func(string) string { return "" }))
}

// Processes on one machine share its cores, or the cores that their container may use.
func TestMachineThreads(t *testing.T) {
	for _, row := range []struct {
		name    string
		machine Machine
		procs   int
		given   bool
		want    Machine
	}{
		{name: "alone", machine: Machine{Cores: 8, Sharers: 1}, procs: 8, want: Machine{Cores: 8, Sharers: 1, Threads: 8}},
		{name: "three share", machine: Machine{Cores: 8, Sharers: 3}, procs: 8, want: Machine{Cores: 8, Sharers: 3, Threads: 2}},
		{name: "more than cores", machine: Machine{Cores: 2, Sharers: 4}, procs: 2, want: Machine{Cores: 2, Sharers: 4, Threads: 1}},
		{name: "limit of a container", machine: Machine{Cores: 64, Sharers: 2}, procs: 4, want: Machine{Cores: 4, Sharers: 2, Threads: 2}},
		{name: "GOMAXPROCS=3", machine: Machine{Cores: 8, Sharers: 2}, procs: 3, given: true, want: Machine{Cores: 8, Sharers: 2, Threads: 3}},
	} {
		require.Equal(t, row.want, row.machine.withThreads(row.procs, row.given), row.name)
	}
}
