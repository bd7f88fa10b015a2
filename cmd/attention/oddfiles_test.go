package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/folder"
	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Texts that replace a number in JSON.
var (
	numberOfJSON = regexp.MustCompile(`-?\d+(\.\d+)?([eE][+-]?\d+)?`)
	oddOfJSON    = []string{"-1", "0", "1e308", "-1e308", "1e999", "9223372036854775807", "-9223372036854775808", "0.5",
		"1e-320",
		"null", "4294967296"}
	oddNumbers = []float64{math.Inf(1), math.Inf(-1), math.NaN(), -1, 0, math.MaxFloat32, -math.MaxFloat32,
		math.MaxFloat64, math.SmallestNonzeroFloat64, -math.MaxInt64}
)

// endless matches numbers that determine how long a run takes.
var endless = regexp.MustCompile(`"(steps|tokens)": \d+$`)

// makeOdd replaces a number in a file by an odd one. The file remains well-formed, and its seal is updated. makeOdd
// returns a description of the change.
func makeOdd(t require.TestingT, draw *rand.Rand, path string) string {
	if !strings.HasSuffix(path, ".safetensors") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all := numberOfJSON.FindAllIndex(text, -1)
		at, odd := all[draw.IntN(len(all))], oddOfJSON[draw.IntN(len(oddOfJSON))]
		was := string(text[max(0, at[0]-20):at[1]])
		if endless.MatchString(was) {
			odd = "-1"
		}
		require.NoError(t, os.WriteFile(path, []byte(string(text[:at[0]])+odd+string(text[at[1]:])), 0o644))
		return fmt.Sprintf("%s: %q becomes %s", path, was, odd)
	}
	f, err := safetensors.ReadFile(path)
	require.NoError(t, err)
	for key, value := range f.Metadata {
		if all := numberOfJSON.FindAllStringIndex(value, -1); len(all) > 0 && draw.IntN(2*len(f.Metadata)) == 0 {
			at, odd := all[draw.IntN(len(all))], oddOfJSON[draw.IntN(len(oddOfJSON))]
			f.Metadata[key] = value[:at[0]] + odd + value[at[1]:]
			write(t, path, f)
			return fmt.Sprintf("%s: %s becomes %s", path, key, f.Metadata[key])
		}
	}
	x := f.Tensors[draw.IntN(len(f.Tensors))]
	data, odd := reflect.ValueOf(x.Data), oddNumbers[draw.IntN(len(oddNumbers))]
	at := data.Index(draw.IntN(data.Len()))
	if at.CanInt() {
		at.SetInt(int64(odd))
	} else {
		at.SetFloat(odd)
	}
	write(t, path, f)
	return fmt.Sprintf("%s: an element of %s becomes %v", path, x.Name, odd)
}

func write(t require.TestingT, path string, f *safetensors.File) {
	require.NoError(t, folder.WriteFile(path, func(w io.Writer) error { return safetensors.WriteSealed(w, f) }))
}

// TestFilesHaveOddNumbers changes files of finished and stopped runs at random. Their seals are right, but they have a
// number that no run writes. No command panics, and the hints of the commands end.
func TestFilesHaveOddNumbers(t *testing.T) {
	commandtest.SketchPictures()
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("text", []byte(brokenText), 0o644))
	for _, kind := range brokenRuns[:2] {
		require.NoError(t, attempt(t, t.Context(), io.Discard, strings.Fields(kind.begin+" --head-stats")...))
		require.NoError(t, os.Rename("run", kind.model))
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		kind := brokenRuns[draw.IntN(2)]
		require.NoError(t, os.RemoveAll("run"))
		require.NoError(t, os.CopyFS("run", os.DirFS(kind.model)))
		if draw.IntN(2) == 0 { // a stopped run
			require.NoError(t, os.Remove("run/model.safetensors"))
			require.NoError(t, os.Remove("run/checkpoints/step-00000012.safetensors"))
		}
		paths := filesOf(t, "run")
		path := paths[draw.IntN(len(paths))]
		if ext := filepath.Ext(path); ext == ".png" || ext == "" {
			path = "run/watch.safetensors"
		}
		t.Log(makeOdd(t, draw, path))
		look(t, kind.model)
		follow(t, "train", "--resume", "run")
	})
}
