package safetensors

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pythonFile is what testdata/torch/golden.py wrote with PyTorch 1.13 for the
// tensors and the metadata of pythonContent, given in another order.
const pythonFile = "\xd0\x02\x00\x00\x00\x00\x00\x00" + pythonHeader +
	`"half":{"dtype":"F16","shape":[3],"data_offsets":[64,70]},` +
	`"bf":{"dtype":"BF16","shape":[3],"data_offsets":[70,76]},` +
	`"i16":{"dtype":"I16","shape":[2],"data_offsets":[76,80]},` +
	`"mask":{"dtype":"BOOL","shape":[1,3],"data_offsets":[80,83]},` +
	`"i8":{"dtype":"I8","shape":[1],"data_offsets":[83,84]},` +
	`"u8":{"dtype":"U8","shape":[2],"data_offsets":[84,86]}}   ` +
	pythonWide + "\x00<\xff\xfb\x01\x00" + "\x80?b\xff\xcd=" + pythonNarrow

// pythonFileWithoutHalves is the same without the tensors half and bf.
const pythonFileWithoutHalves = "\x60\x02\x00\x00\x00\x00\x00\x00" + pythonHeader +
	`"i16":{"dtype":"I16","shape":[2],"data_offsets":[64,68]},` +
	`"mask":{"dtype":"BOOL","shape":[1,3],"data_offsets":[68,71]},` +
	`"i8":{"dtype":"I8","shape":[1],"data_offsets":[71,72]},` +
	`"u8":{"dtype":"U8","shape":[2],"data_offsets":[72,74]}}      ` +
	pythonWide + pythonNarrow

const (
	pythonHeader = `{"__metadata__":{"a":"π\n","format":"pt","torch":"1.13.0"},` +
		`"steps":{"dtype":"I64","shape":[3],"data_offsets":[0,24]},` +
		`"höhe \"λ\"<&>":{"dtype":"F64","shape":[],"data_offsets":[24,32]},` +
		`"wte.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[32,56]},` +
		`"i32":{"dtype":"I32","shape":[2,1],"data_offsets":[56,64]},` +
		`"empty":{"dtype":"F32","shape":[2,0,3],"data_offsets":[64,64]},`
	// the data of these five: 8, 8, 4, 4 and 4 bytes an element
	pythonWide = "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\x7f" +
		"\x9a\x99\x99\x99\x99\x99\xb9?" +
		"\x00\x00\xc0?\x00\x00\x00\xc0\x00\x00\x80\x7f\xff\xff\x7f\x7f\x01\x00\x00\x00\x00\x00\x00\x80" +
		"\x00\x00\x00\x80\x07\x00\x00\x00"
	// and of i16, mask, i8 and u8
	pythonNarrow = "\x00\x80\x05\x00" + "\x01\x00\x01" + "\x80" + "\x00\xff"
)

// pythonContent is the content of pythonFile, its numbers written as in the
// Python that made them.
func pythonContent() *File {
	inf, negativeZero := float32(math.Inf(1)), float32(math.Copysign(0, -1))
	return &File{
		Metadata: map[string]string{"torch": "1.13.0", "a": "π\n", "format": "pt"},
		Tensors: []Tensor{
			{"steps", []int{3}, []int64{-1, 0, math.MaxInt64}, I64},
			{`höhe "λ"<&>`, []int{}, []float64{0.1}, F64},
			{"wte.weight", []int{2, 3}, []float32{1.5, -2, inf, math.MaxFloat32, 1e-45, negativeZero}, F32},
			{"i32", []int{2, 1}, []int32{math.MinInt32, 7}, I32},
			{"empty", []int{2, 0, 3}, []float32{}, F32},
			{"half", []int{3}, []float32{1, -65504, 0x1p-24}, F16},
			// -3e38 and 0.1, rounded to the 8 bits of a bfloat16
			{"bf", []int{3}, []float32{1, -0xe2p+120, 0xcdp-11}, BF16},
			{"i16", []int{2}, []int16{-32768, 5}, I16},
			{"mask", []int{1, 3}, []bool{true, false, true}, BOOL},
			{"i8", []int{1}, []int8{-128}, I8},
			{"u8", []int{2}, []uint8{0, 255}, U8},
		},
	}
}

func readString(s string) (*File, error) {
	return Read(bytes.NewReader([]byte(s)), int64(len(s)))
}

func TestReadsWhatPythonWrote(t *testing.T) {
	got, err := readString(pythonFile)
	require.NoError(t, err)
	assert.Equal(t, pythonContent(), got)
	w, _ := got.Get("wte.weight")
	assert.True(t, math.Signbit(float64(w.Data.([]float32)[5])), "the sign of -0")
}

// Both writers make the same bytes, but for half precision, which Go widens.
func TestWritesWhatPythonWrites(t *testing.T) {
	read, err := readString(pythonFile)
	require.NoError(t, err)
	read.Tensors = slices.DeleteFunc(read.Tensors, func(x Tensor) bool { return x.DType == F16 || x.DType == BF16 })
	var got bytes.Buffer
	require.NoError(t, Write(&got, read))
	assert.Equal(t, pythonFileWithoutHalves, got.String())
}

func TestGet(t *testing.T) {
	f := pythonContent()
	x, ok := f.Get("i8")
	assert.True(t, ok)
	assert.Equal(t, f.Tensors[9], x)
	_, ok = f.Get("i9")
	assert.False(t, ok)
}
