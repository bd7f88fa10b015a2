package simd

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// BF16Variable is the environment variable that allows products of bfloat16 on processors where they are not faster,
// for a test. With "emulated", plain Go computes the same bits if the processor has no instructions for them.
const BF16Variable = "ATTENTION_BF16"

// wantBF16 is the least ratio of bfloat16's speed to float32's at which the rounding is worthwhile.
const wantBF16 = 1.5

// PeakBF16 measures the peak of one core for products of bfloat16, in floating-point operations per second, as PeakFMA
// does. It is 0 where the processor has no instructions for them, and plain Go computes their bits.
func PeakBF16(about time.Duration) float64 {
	if !BF16() {
		return 0
	}
	return peak(about, 2*2*PairRowsTall*PairWidth, pairLoop)
}

// BF16 reports whether the processor has instructions for products of bfloat16, and this process uses them.
func BF16() bool { return nativeBF16() }

// CheckBF16 returns an error if products of bfloat16 are not worthwhile on this processor. Their speed is known for the
// processor's family and model, or else measured once. BF16Variable allows them everywhere, and so does TakeBF16.
func CheckBF16() error { return choiceOfBF16().check() }

// ChoiceOfBF16 reports whether a run may use products of bfloat16, and returns the reason: for example "2 times
// float32's peak on AMD's family 25, model 17".
func ChoiceOfBF16() (taken bool, why string) {
	c := choiceOfBF16()
	return c.taken, c.why
}

// TakeBF16 makes this process use products of bfloat16 from now on, on any processor. Without instructions for them,
// plain Go computes the same bits. So a run that began with them can resume on any processor, and the processes of a
// group do what the first one does.
func TakeBF16() { takesBF16.Store(true) }

var takesBF16 atomic.Bool

// bf16Facts are the inputs of the choice.
type bf16Facts struct {
	variable  string // value of BF16Variable
	takes     bool   // TakeBF16 was called
	lacked    string // missing feature for products in assembly; "" for none
	processor processor
	peaks     func() (bf16, full float64) // of an unknown processor
}

func choiceOfBF16() bf16Choice {
	return bf16Facts{os.Getenv(BF16Variable), takesBF16.Load(), lackedBF16(), thisProcessor(), measuredPeaks}.choose()
}

// measuredPeaks returns PeakBF16 and PeakFMA of float32.
var measuredPeaks = sync.OnceValues(func() (bf16, full float64) {
	const about = 5 * time.Millisecond
	return bestPeaks(func() (bf16, full float64) { return PeakBF16(about), PeakFMA[float32](about) })
})

// bestPeaks returns the best of five timings of both peaks, because other work on the machine only lowers them. If the
// result would be a refusal, it measures five more times.
func bestPeaks(timing func() (bf16, full float64)) (bf16, full float64) {
	const timings, rounds = 5, 2
	for range rounds {
		for range timings {
			b, f := timing()
			bf16, full = max(bf16, b), max(full, f)
		}
		if bf16 >= wantBF16*full {
			break
		}
	}
	return bf16, full
}

// bf16Choice is the decision about products of bfloat16, and its reason.
type bf16Choice struct {
	taken bool
	why   string
	err   string // in place of the reason, if it is an error
}

func (f bf16Facts) choose() bf16Choice {
	if f.variable != "" && f.variable != "emulated" {
		why := fmt.Sprintf("%s: got %.40q, want emulated or nothing", BF16Variable, f.variable)
		return bf16Choice{why: why, err: why}
	}
	emulated := BF16Variable + "=emulated"
	switch {
	case f.lacked != "" && f.variable != "":
		return bf16Choice{taken: true, why: emulated + ", in plain Go"}
	case f.lacked != "" && f.takes:
		return bf16Choice{taken: true, why: "in plain Go, " + f.lacked}
	case f.lacked != "":
		return bf16Choice{why: f.lacked, err: fmt.Sprintf("bf16: %s, want products %v times as fast as float32's; "+
			"%s takes it anyway", f.lacked, wantBF16, emulated)}
	}
	fast, why := f.measure()
	switch {
	case f.variable != "":
		return bf16Choice{taken: true, why: emulated + ", " + why}
	case fast || f.takes:
		return bf16Choice{taken: true, why: why}
	}
	why += fmt.Sprintf(", want %v of it", wantBF16)
	return bf16Choice{why: why, err: fmt.Sprintf("bf16: got %s; %s takes it anyway", why, emulated)}
}

// measure reports whether products of bfloat16 are fast enough, and the reason: the known processor, or timings.
func (f bf16Facts) measure() (fast bool, why string) {
	if times := timesBF16(f.processor); times > 0 {
		return times >= wantBF16, fmt.Sprintf("%v times float32's peak on %v", times, f.processor)
	}
	bf16, full := f.peaks()
	return bf16 >= wantBF16*full,
		fmt.Sprintf("%.3g GFLOP/s a core, %.2f of float32's %.3g", bf16/1e9, bf16/full, full/1e9)
}

func (c bf16Choice) check() error {
	if c.taken {
		return nil
	}
	return errors.New(c.err)
}
