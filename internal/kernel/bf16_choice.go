package kernel

import (
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
func CheckBF16() error { return checkBF16(os.Getenv(BF16Variable), measuredPeaks) }

// measuredPeaks returns PeakBF16 and PeakFMA of float32.
var measuredPeaks = sync.OnceValues(func() (bf16, full float64) {
	const about = 5 * time.Millisecond
	return PeakBF16(about), PeakFMA[float32](about)
})

// checkBF16 is CheckBF16 for a value of the variable and a measurement.
func checkBF16(variable string, peaks func() (bf16, full float64)) error {
	switch variable {
	case "emulated":
		return nil
	case "":
		bf16, full := peaks()
		if bf16 >= wantBF16*full {
			return nil
		}
		return fmt.Errorf("bf16: got %.3g GFLOP/s a core, %.2f of float32's %.3g, want %v of them; "+
			"%s=emulated takes it anyway", bf16/1e9, bf16/full, full/1e9, wantBF16, BF16Variable)
	}
	return fmt.Errorf("%s: got %.40q, want emulated or nothing", BF16Variable, variable)
}
