package kernel

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckBF16(t *testing.T) {
	for _, c := range []struct {
		variable   string
		bf16, full float64
		want       string
	}{
		{"", 537e9, 358e9, "<nil>"},
		{"", 536e9, 358e9, "bf16: got 536 GFLOP/s a core, 1.50 of float32's 358, want 1.5 of them; "},
		{"", 365e9, 358e9, "bf16: got 365 GFLOP/s a core, 1.02 of float32's 358, want 1.5 of them; " +
			"ATTENTION_BF16=emulated takes it anyway"},
		{"emulated", 1e9, 358e9, "<nil>"},
		{"fast", 1e9, 1e9, `ATTENTION_BF16: got "fast", want emulated or nothing`},
	} {
		got := checkBF16(c.variable, func() (float64, float64) { return c.bf16, c.full })
		if !strings.HasPrefix(fmt.Sprint(got), c.want) {
			t.Errorf("%+v: got %v", c, got)
		}
	}
	t.Setenv(BF16Variable, "emulated")
	if err := CheckBF16(); err != nil {
		t.Error(err)
	}
}
