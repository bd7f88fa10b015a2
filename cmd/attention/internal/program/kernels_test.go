package program

import (
	"testing"
	"time"

	"attention/internal/kernel"

	"github.com/stretchr/testify/require"
)

func TestKernelsLine(t *testing.T) {
	k := Kernels{Name: "avx2", Cores: 2, Peak: 112.34e9, PassedOver: []kernel.PassedOver{
		{Name: "avx512", Why: "the processor lacks AVX512F"}, {Name: "bf16", Why: "slower"}}}
	require.Equal(t, "avx2, 112 GFLOP/s in float32 on 2 cores; avx512 passed over: the processor lacks AVX512F; "+
		"bf16 passed over: slower", k.Line("float32"))
	k = Kernels{Name: "avx512", Cores: 2, Peak: 358e9, BF16: "537 GFLOP/s a core, 3.00 of float32's 179"}
	require.Equal(t, "avx512, 358 GFLOP/s in float32 on 2 cores; "+
		"bf16 if asked for: 537 GFLOP/s a core, 3.00 of float32's 179", k.Line("float32"))
	require.Equal(t, "go, 3.26 GFLOP/s in float64 on 1 core", Kernels{Name: "go", Cores: 1, Peak: 3.257e9}.Line("float64"))
}

func TestMeasureKernels(t *testing.T) {
	for _, dtype := range []string{"float32", "float64"} {
		k := MeasureKernels(dtype, time.Millisecond)
		require.Equal(t, kernel.InstructionSet(), k.Name)
		passed := kernel.Passed()
		taken, why := kernel.ChoiceOfBF16()
		if dtype == "float32" && !taken {
			passed = append(passed, kernel.PassedOver{Name: "bf16", Why: why})
		}
		require.Equal(t, passed, k.PassedOver)
		require.Equal(t, dtype == "float32" && taken, k.BF16 != "")
		require.Positive(t, k.Cores)
		require.Positive(t, k.Peak)
	}
}
