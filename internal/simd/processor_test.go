package simd

import "testing"

// Processors by their CPUID signature, with the ratio of bfloat16's speed to float32's.
func TestTimesBF16(t *testing.T) {
	for _, c := range []struct {
		name, maker string
		signature   uint32
		want        processor
		times       float64
	}{
		{"EPYC 9004", makerAMD, 0x00a10f11, processor{makerAMD, 25, 17}, 2},
		{"Ryzen 7000", makerAMD, 0x00a60f12, processor{makerAMD, 25, 97}, 2},
		{"EPYC 7003, Zen 3, without bfloat16", makerAMD, 0x00a00f11, processor{makerAMD, 25, 1}, 0},
		{"EPYC 9005", makerAMD, 0x00b00f21, processor{makerAMD, 26, 2}, 2},
		{"Ryzen 9000", makerAMD, 0x00b40f40, processor{makerAMD, 26, 68}, 2},
		{"after Zen 5", makerAMD, 0x00b50f00, processor{makerAMD, 26, 80}, 0},
		{"Sapphire Rapids", makerIntel, 0x000806f8, processor{makerIntel, 6, 143}, 0.5},
		{"Emerald Rapids", makerIntel, 0x000c06f2, processor{makerIntel, 6, 207}, 0.5},
		{"Granite Rapids", makerIntel, 0x000a06d1, processor{makerIntel, 6, 173}, 0.5},
		{"Cooper Lake", makerIntel, 0x0005065b, processor{makerIntel, 6, 85}, 0},
		{"another maker's", "CentaurHauls", 0x000c06f2, processor{"CentaurHauls", 6, 207}, 0},
		{"a Pentium", makerIntel, 0x00000543, processor{makerIntel, 5, 4}, 0},
	} {
		family, model := signature(c.signature)
		got := processor{c.maker, family, model}
		if got != c.want || timesBF16(got) != c.times {
			t.Errorf("%s: got %v and %v", c.name, got, timesBF16(got))
		}
	}
	if p := thisProcessor(); nativeBF16() && (p.maker == "" || p.family == 0) {
		t.Errorf("got %+v, want a processor that has bfloat16", p)
	}
}
