package simd

import (
	"fmt"
	"testing"
)

func TestCheckBF16(t *testing.T) {
	const anyway, lacks = "; ATTENTION_BF16=emulated takes it anyway", "the processor lacks AVX512-BF16"
	zen, rapids := processor{makerAMD, 0x19, 0x11}, processor{makerIntel, 6, 0xcf}
	for _, c := range []struct {
		facts      bf16Facts
		bf16, full float64
		why, err   string
	}{
		{bf16: 537e9, full: 358e9, why: "537 GFLOP/s a core, 1.50 of float32's 358", err: "<nil>"},
		{bf16: 365e9, full: 358e9, why: "365 GFLOP/s a core, 1.02 of float32's 358, want 1.5 of it",
			err: "bf16: got 365 GFLOP/s a core, 1.02 of float32's 358, want 1.5 of it" + anyway},
		{facts: bf16Facts{takes: true}, bf16: 365e9, full: 358e9,
			why: "365 GFLOP/s a core, 1.02 of float32's 358", err: "<nil>"},
		{facts: bf16Facts{processor: zen}, why: "2 times float32's peak on AMD's family 25, model 17", err: "<nil>"},
		{facts: bf16Facts{processor: rapids}, why: "0.5 times float32's peak on Intel's family 6, model 207, want 1.5 of it",
			err: "bf16: got 0.5 times float32's peak on Intel's family 6, model 207, want 1.5 of it" + anyway},
		{facts: bf16Facts{processor: rapids, takes: true},
			why: "0.5 times float32's peak on Intel's family 6, model 207", err: "<nil>"},
		{facts: bf16Facts{lacked: lacks, processor: zen}, why: lacks,
			err: "bf16: " + lacks + ", want products 1.5 times as fast as float32's" + anyway},
		{facts: bf16Facts{lacked: lacks, takes: true}, why: "in plain Go, " + lacks, err: "<nil>"},
		{facts: bf16Facts{variable: "emulated"}, bf16: 1e9, full: 4e9, err: "<nil>",
			why: "ATTENTION_BF16=emulated, 1 GFLOP/s a core, 0.25 of float32's 4"},
		{facts: bf16Facts{variable: "emulated", lacked: lacks}, why: "ATTENTION_BF16=emulated, in plain Go", err: "<nil>"},
		{facts: bf16Facts{variable: "fast", takes: true, processor: zen},
			why: `ATTENTION_BF16: got "fast", want emulated or nothing`,
			err: `ATTENTION_BF16: got "fast", want emulated or nothing`},
	} {
		asked := false
		c.facts.peaks = func() (float64, float64) {
			asked = true
			return c.bf16, c.full
		}
		got := c.facts.choose()
		if got.why != c.why || fmt.Sprint(got.check()) != c.err || got.taken != (c.err == "<nil>") {
			t.Errorf("%+v: got %+v", c, got)
		}
		if asked != (c.full > 0) {
			t.Errorf("%+v: measured: got %v", c, asked)
		}
	}
	taken, why := ChoiceOfBF16()
	if err := CheckBF16(); taken != (err == nil) || why == "" {
		t.Errorf("got %v, %q and %v", taken, why, err)
	}
	t.Setenv(BF16Variable, "emulated")
	if err := CheckBF16(); err != nil {
		t.Error(err)
	}
}

// One timing of ten that other work did not disturb is enough; without one all ten are taken.
func TestBestPeaks(t *testing.T) {
	for _, c := range []struct {
		name  string
		good  int // the timing that is not disturbed; 10 for none
		taken int
		want  float64
	}{
		{"the first", 0, 5, 200},
		{"the last of the first five", 4, 5, 200},
		{"the first of the second five", 5, 10, 200},
		{"the last", 9, 10, 200},
		{"none", 10, 10, 90},
	} {
		taken := 0
		bf16, full := bestPeaks(func() (float64, float64) {
			defer func() { taken++ }()
			if taken == c.good {
				return 200, 100
			}
			return 90, 99
		})
		if bf16 != c.want || full < 99 || taken != c.taken {
			t.Errorf("%s: got %v and %v of %d timings", c.name, bf16, full, taken)
		}
	}
}
