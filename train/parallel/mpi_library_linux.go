//go:build mpi && (amd64 || arm64)

package parallel

import (
	"cmp"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library holds the functions of the MPI library and the handles of its header.
type library struct {
	functions                                   map[string]uintptr
	world, byteType, errorsReturn, statusIgnore uintptr
	anySource                                   uintptr
}

// functionNames are the names of the functions that link calls.
var functionNames = []string{"MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Comm_rank", "MPI_Comm_size",
	"MPI_Comm_set_errhandler", "MPI_Error_string", "MPI_Allgather", "MPI_Isend", "MPI_Irecv", "MPI_Test",
	"MPI_Ibarrier", "MPI_Iprobe", "MPI_Get_count"}

// load loads the MPI library of the launcher, because a launcher does not work with another library.
func (l *launcher) load() (*library, error) {
	names, packages := []string{"libmpi.so.40"}, "libopenmpi3 (Debian 12) or openmpi"
	if l.mpich {
		names, packages = []string{"libmpich.so.12", "libmpi.so.12"}, "libmpich12 (Debian) or mpich"
	}
	if l.path != "" {
		names = []string{l.path}
	}
	var failed error
	for _, name := range names {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			return newLibrary(handle)
		}
		failed = cmp.Or(failed, err)
	}
	return nil, l.named(fmt.Errorf("%w; install %s, or name the library with %s", failed, packages, Library))
}

// newLibrary looks up the functions and handles that link needs. Open MPI's handles are addresses of variables; those
// of MPICH and its derivatives are numbers (https://www.mpich.org/abi).
func newLibrary(handle uintptr) (*library, error) {
	l := &library{functions: map[string]uintptr{}}
	for _, name := range functionNames {
		at, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, fmt.Errorf("library: %w", err)
		}
		l.functions[name] = at
	}
	world, err := purego.Dlsym(handle, "ompi_mpi_comm_world")
	if err != nil {
		l.world, l.byteType, l.errorsReturn, l.statusIgnore = 0x44000000, 0x4c00010d, 0x54000001, 1
		l.anySource = ^uintptr(1) // −2
		return l, nil
	}
	l.world, l.anySource = world, ^uintptr(0) // −1
	if l.byteType, err = purego.Dlsym(handle, "ompi_mpi_byte"); err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	if l.errorsReturn, err = purego.Dlsym(handle, "ompi_mpi_errors_return"); err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	return l, nil
}

// call calls a function of the library. Any result other than MPI_SUCCESS is an error.
func (l *library) call(name string, arguments ...uintptr) error {
	code, _, _ := purego.SyscallN(l.functions[name], arguments...)
	if int32(code) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", name, l.errorText(code))
}

// errorText returns the library's text for an error.
func (l *library) errorText(code uintptr) string {
	text := &written.text
	purego.SyscallN(l.functions["MPI_Error_string"], code, address(text), address(&written.number))
	return string(text[:max(0, min(int(written.number), len(text)))])
}

// written is the memory into which MPI writes results. One thread makes all calls, and a package variable does not
// move.
var written struct {
	requests [2]uint64 // handles of at most eight bytes
	status   [8]uint64 // MPI_Status, which has 20 bytes in one library and 24 in the other
	number   int32
	text     [1 << 10]byte
}

// address returns the address that C uses for a value, which must be pinned or a package variable.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
