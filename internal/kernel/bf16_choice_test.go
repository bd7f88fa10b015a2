package kernel

import (
	"fmt"
	"testing"
)

func TestCheckBF16(t *testing.T) {
	const anyway, lacks = "; ATTENTION_BF16=emulated takes it anyway", "the processor lacks AVX512-BF16"
	for _, c := range []struct {
		variable, lacked string
		bf16, full       float64
		why, err         string
	}{
		{bf16: 537e9, full: 358e9, why: "537 GFLOP/s a core, 1.50 of float32's 358", err: "<nil>"},
		{bf16: 365e9, full: 358e9, why: "365 GFLOP/s a core, 1.02 of float32's 358, want 1.5 of them",
			err: "bf16: got 365 GFLOP/s a core, 1.02 of float32's 358, want 1.5 of them" + anyway},
		{lacked: lacks, why: lacks,
			err: "bf16: " + lacks + ", want products 1.5 times as fast as float32's" + anyway},
		{variable: "emulated", bf16: 1e9, full: 4e9, err: "<nil>",
			why: "ATTENTION_BF16=emulated, 1 GFLOP/s a core, 0.25 of float32's 4"},
		{variable: "emulated", lacked: lacks, why: "ATTENTION_BF16=emulated, in plain Go", err: "<nil>"},
		{variable: "fast", bf16: 9e9, full: 1e9, why: `ATTENTION_BF16: got "fast", want emulated or nothing`,
			err: `ATTENTION_BF16: got "fast", want emulated or nothing`},
	} {
		got := chooseBF16(c.variable, c.lacked, func() (float64, float64) { return c.bf16, c.full })
		if got.why != c.why || fmt.Sprint(got.check()) != c.err || got.taken != (c.err == "<nil>") {
			t.Errorf("%+v: got %+v", c, got)
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
