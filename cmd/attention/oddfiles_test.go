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
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// What stands for a number in JSON.
var (
	numberOfJSON = regexp.MustCompile(`-?\d+(\.\d+)?([eE][+-]?\d+)?`)
	oddOfJSON    = []string{"-1", "0", "1e308", "-1e308", "1e999", "9223372036854775807", "-9223372036854775808", "0.5", "1e-320",
		"null", "4294967296"}
	oddNumbers = []float64{math.Inf(1), math.Inf(-1), math.NaN(), -1, 0, math.MaxFloat32, -math.MaxFloat32, math.MaxFloat64,
		math.SmallestNonzeroFloat64, -math.MaxInt64}
)

// makeOdd puts an odd number in the place of one of a file, which stays well formed and sealed. It returns what it did.
func makeOdd(t *testing.T, draw *rand.Rand, path string) string {
	if !strings.HasSuffix(path, ".safetensors") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all := numberOfJSON.FindAllIndex(text, -1)
		at, odd := all[draw.IntN(len(all))], oddOfJSON[draw.IntN(len(oddOfJSON))]
		was := string(text[max(0, at[0]-20):at[1]])
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

func write(t *testing.T, path string, f *safetensors.File) {
	require.NoError(t, folder.WriteFile(path, func(w io.Writer) error { return safetensors.WriteSealed(w, f) }))
}

// TestFilesHaveOddNumbers draws files of finished and stopped runs that are well sealed, with a number that no run writes.
// No command panics, and their hints end.
func TestFilesHaveOddNumbers(t *testing.T) {
	commandtest.SketchPictures()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	draws := 25
	if testing.Short() {
		draws = 8
	}
	if testenv.All {
		draws = 400
	}
	for _, kind := range brokenRuns[:2] {
		t.Run(kind.model, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("text", []byte(brokenText), 0o644))
			require.NoError(t, attempt(t, t.Context(), io.Discard, strings.Fields(kind.begin+" --head-stats")...))
			require.NoError(t, os.Rename("run", "whole"))
			for range draws {
				require.NoError(t, os.RemoveAll("run"))
				require.NoError(t, os.CopyFS("run", os.DirFS("whole")))
				if draw.IntN(2) == 0 { // a run that was stopped
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
			}
		})
	}
}
