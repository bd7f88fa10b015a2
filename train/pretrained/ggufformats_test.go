package pretrained_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"

	"attention/internal/gguf"

	"github.com/stretchr/testify/require"
)

// blockFormat is a number format of GGUF files.
type blockFormat struct {
	code           uint32
	numbers, bytes int   // of a block
	scales         []int // the offsets of half-precision numbers
	small          byte  // their upper byte, with which numbers are below 1
}

// blockFormats are those that are read and not written.
var blockFormats = map[string]blockFormat{
	"q4_0":   {2, 32, 18, []int{0}, 0x2c},
	"q4_1":   {3, 32, 20, []int{0, 2}, 0x2c},
	"q5_0":   {6, 32, 22, []int{0}, 0x28},
	"q5_1":   {7, 32, 24, []int{0, 2}, 0x28},
	"q2_k":   {10, 256, 84, []int{80, 82}, 0x18},
	"q3_k":   {11, 256, 110, []int{108}, 0x10},
	"q4_k":   {12, 256, 144, []int{0, 2}, 0x08},
	"q5_k":   {13, 256, 176, []int{0, 2}, 0x04},
	"q6_k":   {14, 256, 210, []int{208}, 0x00},
	"iq4_nl": {20, 32, 18, []int{0}, 0x14},
	"iq4_xs": {23, 256, 136, []int{0}, 0x04},
}

// writeBlocks replaces the matrices of a file, which are of F32, by random blocks of a format.
func writeBlocks(t *testing.T, path string, of blockFormat) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := gguf.Parse(content)
	require.NoError(t, err)
	le, r := binary.LittleEndian, rand.New(rand.NewPCG(5, 6))
	named := func(name string) []byte { return append(le.AppendUint64(nil, uint64(len(name))), name...) }
	head, _, ok := bytes.Cut(content, named(f.Tensors[0].Name))
	require.True(t, ok)
	var data []byte
	for _, tensor := range f.Tensors {
		head = le.AppendUint32(append(head, named(tensor.Name)...), uint32(len(tensor.Shape)))
		for i := range tensor.Shape {
			head = le.AppendUint64(head, uint64(tensor.Shape[len(tensor.Shape)-1-i]))
		}
		code, stored := uint32(0), tensor.Stored
		if len(tensor.Shape) > 1 {
			code, stored = of.code, make([]byte, tensor.Count()/of.numbers*of.bytes)
			for i := range stored {
				stored[i] = byte(r.Uint32())
			}
			for at := 0; at < len(stored); at += of.bytes {
				for _, scale := range of.scales {
					stored[at+scale+1] = of.small
				}
			}
		}
		head = le.AppendUint64(le.AppendUint32(head, code), uint64(len(data)))
		data = append(data, stored...)
		data = append(data, make([]byte, -len(data)&31)...)
	}
	head = append(head, make([]byte, -len(head)&31)...)
	require.NoError(t, os.WriteFile(path, append(head, data...), 0o644))
}
