package kernel

import (
	"errors"
	"fmt"
	"os"
	"sync"
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
	return peak(about, 2*2*pairRowsTall*pairWidth, pairLoop)
}

// BF16 reports whether the processor has instructions for products of bfloat16, and this process uses them.
func BF16() bool { return nativeBF16() }

// CheckBF16 returns an error if products of bfloat16 are not worth it on this processor, which is measured once.
// BF16Variable allows them everywhere.
func CheckBF16() error {
	return chooseBF16(os.Getenv(BF16Variable), lackedBF16(), measuredPeaks).check()
}

// ChoiceOfBF16 returns whether products of bfloat16 are taken where they are asked for, and why: for example
// "89.4 GFLOP/s a core, 0.50 of float32's 179, want 1.5 of them".
func ChoiceOfBF16() (taken bool, why string) {
	c := chooseBF16(os.Getenv(BF16Variable), lackedBF16(), measuredPeaks)
	return c.taken, c.why
}

// measuredPeaks returns PeakBF16 and PeakFMA of float32.
var measuredPeaks = sync.OnceValues(func() (bf16, full float64) {
	const about = 5 * time.Millisecond
	return PeakBF16(about), PeakFMA[float32](about)
})

// bf16Choice is whether products of bfloat16 are taken, and why.
type bf16Choice struct {
	taken bool
	why   string
	err   string // instead of why, where it is an error
}

// chooseBF16 chooses for a value of the variable, what this process lacks to multiply in assembly, if anything, and a
// measurement.
func chooseBF16(variable, lacked string, peaks func() (bf16, full float64)) bf16Choice {
	if variable != "" && variable != "emulated" {
		why := fmt.Sprintf("%s: got %.40q, want emulated or nothing", BF16Variable, variable)
		return bf16Choice{why: why, err: why}
	}
	emulated := BF16Variable + "=emulated"
	if lacked != "" {
		if variable != "" {
			return bf16Choice{taken: true, why: emulated + ", in plain Go"}
		}
		return bf16Choice{why: lacked, err: fmt.Sprintf("bf16: %s, want products %v times as fast as float32's; "+
			"%s takes it anyway", lacked, wantBF16, emulated)}
	}
	bf16, full := peaks()
	why := fmt.Sprintf("%.3g GFLOP/s a core, %.2f of float32's %.3g", bf16/1e9, bf16/full, full/1e9)
	switch {
	case variable != "":
		return bf16Choice{taken: true, why: emulated + ", " + why}
	case bf16 >= wantBF16*full:
		return bf16Choice{taken: true, why: why}
	}
	why += fmt.Sprintf(", want %v of them", wantBF16)
	return bf16Choice{why: why, err: fmt.Sprintf("bf16: got %s; %s takes it anyway", why, emulated)}
}

func (c bf16Choice) check() error {
	if c.taken {
		return nil
	}
	return errors.New(c.err)
}
