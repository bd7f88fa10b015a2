package pretrained_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"attention/graph"
	"attention/internal/kernel"
	"attention/internal/parallel"
	"attention/internal/safetensors"
	"attention/layers/generate"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// BenchmarkStored measures a model with random weights in bfloat16, gpt2 or the published shape that STORED_SHAPE
// names: the time to read the file, the time until the first token, and the time of the following tokens relative to
// the memory bandwidth. With STORED_LONG it also measures a prompt of 510 tokens, and the peak memory with 2040 tokens.
//
//	STORED_SHAPE=Qwen2.5-0.5B go test ./train/pretrained -run '^$' -bench Stored -benchtime 1x
//
// STORED_FOLDER is a folder that has the model, or in which it is stored; STORED_PRECISION may be bf16.
func BenchmarkStored(b *testing.B) {
	dir := storedShape(b, os.Getenv("STORED_SHAPE"), os.Getenv("STORED_FOLDER"))
	precision, err := graph.ParsePrecision(cmp.Or(os.Getenv("STORED_PRECISION"), "full"))
	require.NoError(b, err)
	manyFloats = make([]float32, 1<<26)
	for i := range manyFloats { // otherwise all pages would be one page
		manyFloats[i] = 1
	}
	for b.Loop() {
		path := filepath.Join(dir, "model.safetensors")
		read, size := readFile(b, path), fileSize(b, path)
		begin := time.Now()
		g, err := pretrained.ReadGPT(dir)
		require.NoError(b, err)
		opened := time.Since(begin)
		length := min(storedContext, g.Model.Config().ContextLength)
		generator, err := generate.New(g.Model, generate.Config{Capacity: length, Precision: precision})
		require.NoError(b, err)
		require.NoError(b, generator.Prompt(b.Context(), someIDs(8)))
		next(b, generator)
		fmt.Printf("\nfile %.0f MB, read in %v; opened in %v, first token of 8 after %v\n", size/1e6, read, opened,
			time.Since(begin))
		measureTokens(b, generator, float64(g.Params.Bytes()))
		if os.Getenv("STORED_LONG") != "" {
			measureLong(b, generator, size, length)
		}
	}
}

const storedContext = 2048 // tokens at most

// storedShape returns a folder with a published shape: dir, if it is not empty.
func storedShape(b *testing.B, shape, dir string) string {
	for _, of := range benched {
		if of.name != shape {
			continue
		}
		if dir == "" {
			return randomFolder(b, of.config, of.weights, safetensors.BF16)
		}
		if _, err := os.Stat(filepath.Join(dir, "config.json")); err != nil {
			require.NoError(b, os.Rename(randomFolder(b, of.config, of.weights, safetensors.BF16), dir))
		}
	}
	if dir == "" {
		b.Skip("STORED_SHAPE names no shape")
	}
	return dir
}

func someIDs(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = 100 + 13*i
	}
	return ids
}

// measureTokens prints the best time of tokens, and the best bandwidth between them.
func measureTokens(b *testing.B, g *generate.Generator, bytes float64) {
	token, speed := time.Hour, 0.0
	for range 40 {
		begin := time.Now()
		next(b, g)
		token = min(token, time.Since(begin))
		speed = max(speed, bandwidth())
	}
	reads := bytes / token.Seconds()
	fmt.Printf("a token %v: %.1f GB/s of weights, %.2f of the bandwidth of %.1f GB/s\n", token, reads/1e9, reads/speed,
		speed/1e9)
}

// measureLong prints the time of a prompt, and the peak memory with the largest number of tokens.
func measureLong(b *testing.B, g *generate.Generator, size float64, length int) {
	const chunk = 510
	best := time.Hour
	g.Reset()
	tokens := 0
	for ; tokens+chunk < length; tokens += chunk {
		begin := time.Now()
		require.NoError(b, g.Prompt(b.Context(), someIDs(chunk)))
		best = min(best, time.Since(begin))
	}
	next(b, g)
	fmt.Printf("a prompt of %d: %v; memory with %d tokens %.0f MB, %.0f more than the file\n", chunk, best, tokens,
		peakMemory(b), peakMemory(b)-size/1e6)
}

func next(b *testing.B, g *generate.Generator) {
	_, err := g.Next(context.Background())
	require.NoError(b, err)
}

// readFile returns the shortest time to read a file from the page cache.
func readFile(b *testing.B, path string) time.Duration {
	best := time.Hour
	for range 3 {
		f, err := os.Open(path)
		require.NoError(b, err)
		begin := time.Now()
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20))
		require.NoError(b, err)
		best = min(best, time.Since(begin))
		require.NoError(b, f.Close())
	}
	return best
}

func fileSize(b *testing.B, path string) float64 {
	info, err := os.Stat(path)
	require.NoError(b, err)
	return float64(info.Size())
}

var manyFloats []float32

// bandwidth returns the bytes of memory that all cores together read per second.
func bandwidth() float64 {
	begin := time.Now()
	parallel.For(len(manyFloats), 1<<18, func(lo, hi int) { kernel.SumSquares(manyFloats[lo:hi]) })
	return float64(len(manyFloats)) * float64(unsafe.Sizeof(manyFloats[0])) / time.Since(begin).Seconds()
}

// peakMemory returns the peak memory of the process in MB, if /proc has it, without the memory of bandwidth.
func peakMemory(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kb, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	require.NoError(b, err)
	return kb/1e3*1.024 - float64(4*len(manyFloats))/1e6
}
