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
	BF16       string              `json:"bf16,omitempty"` // why products of float32 may be those of bfloat16, if they may
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
	if dtype != "float32" {
		return k
	}
	if taken, why := kernel.ChoiceOfBF16(); taken {
		k.BF16 = why
	} else {
		k.PassedOver = append(k.PassedOver, kernel.PassedOver{Name: "bf16", Why: why})
	}
	return k
}

// Phrases returns the kernels, their peak in an element type, whether there is bf16 and what was passed over, as in
// "avx2," "112 GFLOP/s in float32 on 2 cores;" "avx512 passed over: the processor lacks AVX512F".
func (k Kernels) Phrases(dtype string) []string {
	cores := "cores"
	if k.Cores == 1 {
		cores = "core"
	}
	phrases := []string{k.Name + ",", fmt.Sprintf("%.3g GFLOP/s in %s on %d %s", k.Peak/1e9, dtype, k.Cores, cores)}
	add := func(phrase string) {
		phrases[len(phrases)-1] += ";"
		for _, part := range strings.SplitAfter(phrase, ", ") {
			phrases = append(phrases, strings.TrimRight(part, " "))
		}
	}
	if k.BF16 != "" {
		add("bf16 if asked for: " + k.BF16)
	}
	for _, p := range k.PassedOver {
		add(p.String())
	}
	return phrases
}

// Line returns the phrases on one line.
func (k Kernels) Line(dtype string) string { return strings.Join(k.Phrases(dtype), " ") }

// CheckKernels returns an error if the environment asks for kernels that this process does not have.
func CheckKernels() error { return kernel.Err() }
