package program

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"attention/internal/kernel"
)

// Kernels are what computes in this process, and what does not.
type Kernels struct {
	Name       string              `json:"kernels"`
	Cores      int                 `json:"cores"`                // that compute at once
	Peak       float64             `json:"peak_flop_per_second"` // of the cores together
	PassedOver []kernel.PassedOver `json:"passed_over,omitempty"`
}

// BriefPeak is a time to measure a peak in that nobody waits for.
const BriefPeak = 10 * time.Millisecond

// MeasureKernels measures the peak of an element type, "float32" or "float64", for about the given time.
func MeasureKernels(dtype string, about time.Duration) Kernels {
	measure := kernel.PeakFMA[float32]
	if dtype == "float64" {
		measure = kernel.PeakFMA[float64]
	}
	each := make([]float64, min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	var done sync.WaitGroup
	for i := range each {
		done.Go(func() { each[i] = measure(about) })
	}
	done.Wait()
	k := Kernels{Name: kernel.InstructionSet(), Cores: len(each), PassedOver: kernel.Passed()}
	for _, one := range each {
		k.Peak += one
	}
	return k
}

// Phrases returns the kernels, their peak in an element type and what was passed over, as in "avx2," "112 GFLOP/s in
// float32 on 2 cores;" "avx512 passed over: the processor lacks AVX512F".
func (k Kernels) Phrases(dtype string) []string {
	cores := "cores"
	if k.Cores == 1 {
		cores = "core"
	}
	phrases := []string{k.Name + ",", fmt.Sprintf("%.3g GFLOP/s in %s on %d %s", k.Peak/1e9, dtype, k.Cores, cores)}
	for _, p := range k.PassedOver {
		phrases[len(phrases)-1] += ";"
		phrases = append(phrases, p.String())
	}
	return phrases
}

// Line returns the phrases on one line.
func (k Kernels) Line(dtype string) string { return strings.Join(k.Phrases(dtype), " ") }

// CheckKernels returns an error if the environment asks for kernels that this process does not have.
func CheckKernels() error { return kernel.Err() }
