package program

import (
	"runtime"
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

// Only the part of mapped files that is in memory counts, without the files that are left out.
func TestResident(t *testing.T) {
	const smaps = `00400000-0141b000 r-xp 00000000 fe:00 10864880                           /usr/bin/attention
Size:              16492 kB
Rss:                9068 kB
Pss:                9068 kB
7f0000000000-7f0010000000 rw-p 00000000 fe:00 10864881                   /models/llama/model.safetensors
Rss:              262144 kB
12a938800000-12a939000000 rw-p 00000000 00:00 0 
Rss:                1912 kB
7fff00000000-7fff00010000 rw-p 00000000 00:00 0                          [stack]
Rss:                  12 kB
7fa5cbd34000-7fa5cbe8a000 r-xp 00026000 fe:00 326269                     /usr/lib/libc.so.6
Rss:                 816 kB
VmFlags: rd ex mr mw me sd
`
	require.Equal(t, (9068+816)<<10, resident([]byte(smaps), ".safetensors"))
	require.Zero(t, resident(nil, ""))
}

// Memory in use counts; memory that was freed does not.
func TestMemory(t *testing.T) {
	const size = 64 << 20
	before, _ := Memory("")
	block := make([]byte, size)
	with, _ := Memory("")
	require.InDelta(t, before+size, with, size/8)
	runtime.KeepAlive(block)
	after, _ := Memory("")
	require.InDelta(t, before, after, size/8)
}
