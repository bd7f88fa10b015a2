package simd

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// BF16Variable is the environment variable that allows products of bfloat16 where they are not faster, for a test or
// in doubt: with "emulated", plain Go computes their bits where the processor has no instructions for them.
const BF16Variable = "ATTENTION_BF16"

// wantBF16 is how many times as fast as those of float32 products of bfloat16 must be to be worth their rounding.
const wantBF16 = 1.5

// PeakBF16 measures the most floating-point operations of products of bfloat16 that one core does a second, as
// PeakFMA does. It is 0 where the processor has no instructions for them, and plain Go computes their bits.
func PeakBF16(about time.Duration) float64 {
	if !BF16() {
		return 0
	}
	return peak(about, 2*2*PairRowsTall*PairWidth, pairLoop)
}

// BF16 reports whether the processor has instructions for products of bfloat16, and this process uses them.
func BF16() bool { return nativeBF16() }

// CheckBF16 returns an error if products of bfloat16 are not worth it on this processor, which is known by its family
// and model, or else measured once. BF16Variable allows them everywhere, and so does TakeBF16.
func CheckBF16() error { return choiceOfBF16().check() }

// ChoiceOfBF16 returns whether a run that asks for products of bfloat16 gets them, and the reason: for example
// "2 times float32's peak on AMD's family 25, model 17".
func ChoiceOfBF16() (taken bool, why string) {
	c := choiceOfBF16()
	return c.taken, c.why
}

// TakeBF16 makes this process take products of bfloat16 from now on, whatever its processor: where it has no
// instructions for them plain Go computes their bits. A run that has begun with them resumes everywhere, and the
// processes of a group do as its first one.
func TakeBF16() { takesBF16.Store(true) }

var takesBF16 atomic.Bool

// bf16Facts are the inputs of the choice.
type bf16Facts struct {
	variable  string // value of BF16Variable
	takes     bool   // TakeBF16 was called
	lacked    string // what this process lacks to multiply in assembly; "" for nothing
	processor processor
	peaks     func() (bf16, full float64) // of a processor that is not known
}

func choiceOfBF16() bf16Choice {
	return bf16Facts{os.Getenv(BF16Variable), takesBF16.Load(), lackedBF16(), thisProcessor(), measuredPeaks}.choose()
}

// measuredPeaks returns PeakBF16 and PeakFMA of float32.
var measuredPeaks = sync.OnceValues(func() (bf16, full float64) {
	const about = 5 * time.Millisecond
	return bestPeaks(func() (bf16, full float64) { return PeakBF16(about), PeakFMA[float32](about) })
})

// bestPeaks returns the best of five timings of both peaks, which other work on the machine only lowers. Before they
// refuse, it asks five times more.
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

// bf16Choice is whether products of bfloat16 are taken, and why.
type bf16Choice struct {
	taken bool
	why   string
	err   string // instead of why, where it is an error
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
