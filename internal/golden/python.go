package golden

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// Python runs a script of testdata/torch on one thread, and skips the test where there is no
// Python with PyTorch: the script then exits with 77.
func Python(t testing.TB, script string, args ...string) {
	t.Helper()
	path, err := Path("torch", script)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		cmd := exec.Command(name, append([]string{"-B", path}, args...)...)
		cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
		message, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 77) {
			continue // no Python, or none with PyTorch
		}
		if err != nil {
			t.Fatalf("%v: %s", err, message)
		}
		return
	}
	t.Skip("no Python with PyTorch")
}
