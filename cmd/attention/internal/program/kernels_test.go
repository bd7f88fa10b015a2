package program

import (
	"testing"
	"time"

	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

func TestKernelsLine(t *testing.T) {
	k := Kernels{Name: "avx2", Cores: 2, Peak: 112.34e9, PassedOver: []simd.PassedOver{
		{Name: "avx512", Why: "the processor lacks AVX512F"}, {Name: "bf16", Why: "slower"}}}
	require.Equal(t, "avx2, 112 GFLOP/s in float32 on 2 cores; avx512 passed over: the processor lacks AVX512F; "+
		"bf16 passed over: slower", k.Line("float32"))
	k = Kernels{Name: "avx512", Cores: 2, Peak: 358e9, BF16: "537 GFLOP/s a core, 3.00 of float32's 179"}
	require.Equal(t, "avx512, 358 GFLOP/s in float32 on 2 cores; "+
		"bf16 if asked for: 537 GFLOP/s a core, 3.00 of float32's 179", k.Line("float32"))
	k.Peak = 1074e9
	require.Equal(t, "avx512, 1074 GFLOP/s in bf16 on 2 cores; bf16: 537 GFLOP/s a core, 3.00 of float32's 179",
		k.Line(BF16))
	k = Kernels{Name: "avx2", Cores: 2, BF16: "ATTENTION_BF16=emulated, in plain Go"}
	require.Equal(t, "avx2, no peak in bf16 on 2 cores; bf16: ATTENTION_BF16=emulated, in plain Go", k.Line(BF16))
	require.Equal(t, "go, 3.26 GFLOP/s in float64 on 1 core", Kernels{Name: "go", Cores: 1, Peak: 3.257e9}.Line("float64"))
}

func TestGiga(t *testing.T) {
	for want, x := range map[string]float64{"0.0123": 12.34e6, "1.07": 1.0749e9, "999": 999.49e9, "1000": 999.5e9,
		"10744": 10743.9e9} {
		require.Equal(t, want, Giga(x))
	}
}

func TestMeasureKernels(t *testing.T) {
	for _, numbers := range []string{"float32", "float64", BF16} {
		k := MeasureKernels(numbers, time.Millisecond)
		require.Equal(t, simd.InstructionSet(), k.Name)
		passed := simd.Passed()
		taken, why := simd.ChoiceOfBF16()
		if numbers != "float64" && !taken {
			passed = append(passed, simd.PassedOver{Name: BF16, Why: why})
		}
		require.Equal(t, passed, k.PassedOver)
		require.Equal(t, numbers != "float64" && taken, k.BF16 != "")
		require.Positive(t, k.Cores)
		require.Equal(t, numbers != BF16 || simd.BF16(), k.Peak > 0)
	}
}
