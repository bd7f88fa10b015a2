package program

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"attention/internal/simd"
)

// Kernels describes the kernels that this process uses, and those that it does not use.
type Kernels struct {
	Name       string            `json:"kernels"`
	Cores      int               `json:"cores"`                // the number that compute at once
	Peak       float64           `json:"peak_flop_per_second"` // of the cores together; 0 of bf16 in plain Go
	PassedOver []simd.PassedOver `json:"passed_over,omitempty"`
	BF16       string            `json:"bf16,omitempty"` // the reason why --precision bf16 is allowed, if it is
}

// BriefPeak is a time for MeasureKernels that is too short to be noticed.
const BriefPeak = 10 * time.Millisecond

// BF16 names products of float32 whose operands are rounded to bfloat16.
const BF16 = "bf16"

// MeasureKernels measures the peak of products of "float32", "float64" or BF16. It takes about the given time.
func MeasureKernels(numbers string, about time.Duration) Kernels {
	measure := simd.PeakFMA[float32]
	switch numbers {
	case "float64":
		measure = simd.PeakFMA[float64]
	case BF16:
		measure = simd.PeakBF16
	}
	each := make([]float64, min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	var done sync.WaitGroup
	for i := range each {
		done.Go(func() { each[i] = measure(about) })
	}
	done.Wait()
	k := Kernels{Name: simd.InstructionSet(), Cores: len(each), PassedOver: simd.Passed()}
	for _, one := range each {
		k.Peak += one
	}
	if numbers == "float64" {
		return k
	}
	if taken, why := simd.ChoiceOfBF16(); taken {
		k.BF16 = why
	} else {
		k.PassedOver = append(k.PassedOver, simd.PassedOver{Name: BF16, Why: why})
	}
	return k
}

// Phrases describes the kernels, their measured peak, whether bf16 is available and which kernels were passed over, as
// in "avx2," "112 GFLOP/s in float32 on 2 cores;" "avx512 passed over: the processor lacks AVX512F".
func (k Kernels) Phrases(numbers string) []string {
	cores := "cores"
	if k.Cores == 1 {
		cores = "core"
	}
	peak := "no peak"
	if k.Peak > 0 {
		peak = Giga(k.Peak) + " GFLOP/s"
	}
	phrases := []string{k.Name + ",", fmt.Sprintf("%s in %s on %d %s", peak, numbers, k.Cores, cores)}
	add := func(phrase string) {
		phrases[len(phrases)-1] += ";"
		for _, part := range strings.SplitAfter(phrase, ", ") {
			phrases = append(phrases, strings.TrimRight(part, " "))
		}
	}
	switch {
	case k.BF16 != "" && numbers == BF16:
		add("bf16: " + k.BF16)
	case k.BF16 != "":
		add("bf16 if asked for: " + k.BF16)
	}
	for _, p := range k.PassedOver {
		add(p.String())
	}
	return phrases
}

// Giga returns x/10⁹ with three digits, or with all digits before the point, as in "0.0123", "112" and "1074".
func Giga(x float64) string {
	if x >= 999.5e9 {
		return fmt.Sprintf("%.0f", x/1e9)
	}
	return fmt.Sprintf("%.3g", x/1e9)
}

// Line returns the phrases on one line.
func (k Kernels) Line(numbers string) string { return strings.Join(k.Phrases(numbers), " ") }

// CheckKernels returns an error if the environment asks for kernels that this process does not have.
func CheckKernels() error { return simd.Err() }
