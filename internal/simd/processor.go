package simd

import "fmt"

// processor is a processor's maker, family and model, as CPUID gives them.
type processor struct {
	maker         string // "AuthenticAMD"
	family, model int
}

// String returns for example "AMD's family 25, model 17".
func (p processor) String() string {
	maker := p.maker
	switch p.maker {
	case makerAMD:
		maker = "AMD"
	case makerIntel:
		maker = "Intel"
	}
	return fmt.Sprintf("%s's family %d, model %d", maker, p.family, p.model)
}

const makerAMD, makerIntel = "AuthenticAMD", "GenuineIntel"

// knownBF16 are the processors with a known ratio of bfloat16's peak to float32's. VDPBF16PS does two multiply-adds for
// each number of a vector; Zen 4 and 5 do as many of it as of VFMADD231PS, Sapphire Rapids and its successors a
// quarter. Measured were model 17 of family 25, model 2 of family 26, and Intel's model 207.
var knownBF16 = []struct {
	maker          string
	family, lo, hi int // models from lo to hi
	times          float64
}{
	{makerAMD, 0x19, 0x10, 0x1f, 2},  // Zen 4: EPYC 9004
	{makerAMD, 0x19, 0x60, 0x7f, 2},  // Zen 4: Ryzen 7000
	{makerAMD, 0x19, 0xa0, 0xaf, 2},  // Zen 4c
	{makerAMD, 0x1a, 0x00, 0x2f, 2},  // Zen 5: EPYC 9005 and others
	{makerAMD, 0x1a, 0x40, 0x4f, 2},  // Zen 5: Ryzen 9000
	{makerAMD, 0x1a, 0x60, 0x7f, 2},  // Zen 5
	{makerIntel, 6, 0x8f, 0x8f, 0.5}, // Sapphire Rapids
	{makerIntel, 6, 0xcf, 0xcf, 0.5}, // Emerald Rapids
	{makerIntel, 6, 0xad, 0xae, 0.5}, // Granite Rapids
}

// timesBF16 returns the ratio of a processor's speed for bfloat16 to that for float32, or 0 if it is not known.
func timesBF16(p processor) float64 {
	for _, k := range knownBF16 {
		if p.maker == k.maker && p.family == k.family && k.lo <= p.model && p.model <= k.hi {
			return k.times
		}
	}
	return 0
}

// signature returns the family and the model in the signature of a processor, EAX of CPUID's leaf 1.
func signature(a uint32) (family, model int) {
	family, model = int(a>>8&0xf), int(a>>4&0xf)
	if family == 6 || family == 0xf {
		model += int(a >> 16 & 0xf << 4)
	}
	if family == 0xf {
		family += int(a >> 20 & 0xff)
	}
	return family, model
}
