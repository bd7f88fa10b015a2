// Package golden serves tests: it loads reference values from the module's testdata
// directory, makes tensors of numbers and compares numbers. Its failures name the file and
// the tensor.
package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"attention/internal/safetensors"
)

// Path returns the absolute path of a file or directory in the module's testdata
// directory, beside the nearest go.mod in or above the current directory. It does not
// check that the file exists.
func Path(elem ...string) (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("golden: %w", err)
	}
	for dir := start; ; {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(append([]string{dir, "testdata"}, elem...)...), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("golden: no go.mod in %s or above it", start)
		}
		dir = up
	}
}

// File is a loaded safetensors file. Its methods return copies, which a test may change. On errors they fail the test
// for which the file was loaded, so a subtest that should fail alone must load the file itself.
type File struct {
	t    testing.TB
	path string
	file *safetensors.File
}

// Load reads a safetensors file; path is relative to the module's testdata directory, with
// forward slashes. A missing or broken file fails the test at once.
func Load(t testing.TB, path string) *File {
	t.Helper()
	full, err := Path(filepath.FromSlash(path))
	if err != nil {
		t.Fatalf("golden: %s: %v", path, err)
	}
	file, err := safetensors.ReadFile(full)
	if err != nil {
		t.Fatalf("golden: %s: %v", path, err)
	}
	return &File{t: t, path: path, file: file}
}

// Names returns the tensors' names in the order of their data.
func (f *File) Names() []string {
	names := make([]string, len(f.file.Tensors))
	for i, t := range f.file.Tensors {
		names[i] = t.Name
	}
	return names
}

// Metadata returns the metadata string stored under key.
func (f *File) Metadata(key string) string {
	f.t.Helper()
	value, ok := f.file.Metadata[key]
	if !ok {
		f.t.Fatalf("golden: %s: no metadata %q", f.path, key)
	}
	return value
}

// Shape returns a tensor's shape, empty for a scalar.
func (f *File) Shape(name string) []int {
	f.t.Helper()
	return slices.Clone(f.get(name).Shape)
}

// Float64 returns a tensor of floating-point numbers, widened without loss.
func (f *File) Float64(name string) []float64 {
	f.t.Helper()
	return readAs(f, name, "floating-point numbers", safetensors.Floats[float64])
}

// Float32 returns a tensor of floating-point numbers. An F64 tensor is rounded to the
// nearest float32, so one file serves tests in both types.
func (f *File) Float32(name string) []float32 {
	f.t.Helper()
	return readAs(f, name, "floating-point numbers", safetensors.Floats[float32])
}

// Int64 returns a tensor of integers of any width.
func (f *File) Int64(name string) []int64 {
	f.t.Helper()
	return readAs(f, name, "integers", safetensors.Integers)
}

// Bool returns a tensor of booleans.
func (f *File) Bool(name string) []bool {
	f.t.Helper()
	return readAs(f, name, "booleans", func(data any) []bool {
		bits, _ := data.([]bool)
		return slices.Clone(bits)
	})
}

func (f *File) get(name string) safetensors.Tensor {
	f.t.Helper()
	t, ok := f.file.Get(name)
	if !ok {
		f.t.Fatalf("golden: %s: no tensor %q; there are %q", f.path, name, f.Names())
	}
	return t
}

// readAs returns a tensor's elements, copied by read; read returns nil for another type.
func readAs[E any](f *File, name, want string, read func(data any) []E) []E {
	f.t.Helper()
	t := f.get(name)
	copied := read(t.Data)
	if copied == nil {
		f.t.Fatalf("golden: %s: tensor %q: got %s, want %s", f.path, t.Name, t.DType, want)
	}
	return copied
}
