package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sample is a file with every kind of content that can be written.
func sample() *File {
	row := make([]float32, 64)
	for i := range row {
		row[i] = float32(i) - 20
	}
	return &File{
		Settings: []Setting{{"a", "xy"}, {"b", uint32(7)}, {"c", []string{"p", "", "é"}}, {"d", true},
			{"e", []float32{-1, 2.5}}, {"f", int32(-3)}, {"g", []int32{4, -5}}, {"h", float32(1.5)}, {"i", []bool{true, false}},
			{"j", []uint32{}}},
		Tensors: []Tensor{
			{Name: "w", Shape: []int{2, 32}, Type: F32, Fill: floats(row...)},
			{Name: "h", Shape: []int{3}, Type: F16, Fill: floats(1, -2, 0.5)},
			{Name: "q", Shape: []int{1, 2, 32}, Type: Q8, Fill: floats(row...)},
			{Name: "b", Shape: []int{1}, Type: BF16, Fill: floats(1)},
		},
	}
}

func encoded(t testing.TB, f *File) []byte {
	var b bytes.Buffer
	require.NoError(t, Write(&b, f))
	return b.Bytes()
}

// A written file is read with the same settings, shapes, types and elements; written again, it has the same bytes.
func TestReadWritten(t *testing.T) {
	want, content := sample(), encoded(t, sample())
	path := filepath.Join(t.TempDir(), "x.gguf")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	got, err := Open(path)
	require.NoError(t, err)
	assert.Equal(t, want.Settings, got.Settings)
	assert.Equal(t, uint32(7), got.Value("b"))
	assert.Nil(t, got.Value("z"))
	require.Len(t, got.Tensors, len(want.Tensors))
	for i, w := range want.Tensors {
		g := got.Tensors[i]
		assert.Equal(t, []any{w.Name, w.Shape, w.Type}, []any{g.Name, g.Shape, g.Type})
		x, y := make([]float32, w.Count()), make([]float32, w.Count())
		require.NoError(t, w.Fill(x))
		require.NoError(t, g.Fill(y))
		if w.Type == Q8 { // a scale of 43/127 and whole steps
			for j := range x {
				assert.InDelta(t, x[j], y[j], 0.5*43/127+43*0x1p-11)
			}
			continue
		}
		assert.Equal(t, x, y)
	}
	assert.True(t, bytes.Equal(content, encoded(t, got)), "written again")
	assert.True(t, Is(path))
	assert.False(t, Is(filepath.Dir(path)))
	_, err = Open(path + "2")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = Open(path)
	require.EqualError(t, err, "gguf: "+path+": got a file that does not begin with GGUF, want one that does")
}

// Numbers of 8, 16 and 64 bits are read, which are not written here.
func TestReadNumbers(t *testing.T) {
	b := raw{}.begin(0, 7).str("a").u32(0).u8(200).str("b").u32(1).u8(200).str("c").u32(2).u8(1, 2).str("d").u32(3).
		u8(255, 255).str("e").u32(10).u64(1 << 60).str("f").u32(11).u64(math.MaxUint64).str("g").u32(12).
		u64(math.Float64bits(0.1))
	f, err := Parse(b)
	require.NoError(t, err)
	var values []any
	for _, s := range f.Settings {
		values = append(values, s.Value)
	}
	assert.Equal(t, []any{uint8(200), int8(-56), uint16(513), int16(-1), uint64(1 << 60), int64(-1), 0.1}, values)
}

// raw is a file under construction.
type raw []byte

func (b raw) u8(v ...byte) raw   { return append(b, v...) }
func (b raw) u32(v uint32) raw   { return binary.LittleEndian.AppendUint32(b, v) }
func (b raw) u64(v uint64) raw   { return binary.LittleEndian.AppendUint64(b, v) }
func (b raw) str(s string) raw   { return append(b.u64(uint64(len(s))), s...) }
func (b raw) zeros(n int) raw    { return append(b, make([]byte, n)...) }
func (b raw) pad() raw           { return b.zeros(padding(len(b))) }
func (b raw) align(n uint32) raw { return b.str("general.alignment").u32(4).u32(n) }
func (b raw) begin(t, s int) raw { return append(b, magic...).u32(3).u64(uint64(t)).u64(uint64(s)) }
func (b raw) list(n uint64) raw  { return b.str("k").u32(9).u32(8).u64(n) }
func (b raw) text(n uint64) raw  { return b.str("k").u32(8).u64(n) }
func (b raw) unit(name string, offset uint64) raw {
	return b.tensor(name, 0, offset, 8)
}
func (b raw) tensor(name string, code uint32, offset uint64, shape ...uint64) raw {
	b = b.str(name).u32(uint32(len(shape)))
	for _, n := range shape {
		b = b.u64(n)
	}
	return b.u32(code).u64(offset)
}

// hostile are files that are refused, with the errors about them.
var hostile = []struct {
	name, want string
	file       raw
}{
	{"empty", "does not begin with GGUF", raw{}},
	{"other", "does not begin with GGUF", raw("GGML and more")},
	{"short", "ends in its head", raw("GGUF\x03\x00")},
	{"version", "version: got 1, want 2 or 3", raw("GGUF\x01\x00\x00\x00").zeros(16)},
	{"big endian", "big endian", raw("GGUF\x00\x00\x00\x03").zeros(16)},
	{"tensors", "tensors: got 1152921504606846976, want at most", raw(magic).u32(3).u64(1 << 60).u64(0)},
	{"tensors absent", "ends in its head", raw{}.begin(1000, 0)},
	{"settings", "settings: got 18446744073709551615, want at most", raw(magic).u32(3).u64(0).u64(math.MaxUint64)},
	{"settings absent", "ends in its head", raw{}.begin(0, 5)},
	{"key of 4 GB", "ends in its head", raw{}.begin(0, 1).u64(1 << 32).zeros(100)},
	{"string of 4 GB", "ends in its head", raw{}.begin(0, 1).text(1 << 32).zeros(100)},
	{"string of 2^64", "ends in its head", raw{}.begin(0, 1).text(math.MaxUint64).zeros(100)},
	{"key", `setting "\xff": want a key in UTF-8`, raw{}.begin(0, 1).str("\xff").u32(0).u8(1)},
	{"key twice", `setting "k": the key is taken`, raw{}.begin(0, 2).str("k").u32(0).u8(1).str("k").u32(0).u8(1)},
	{"value", `setting "k": got a value of type 13`, raw{}.begin(0, 1).str("k").u32(13).zeros(8)},
	{"list of lists", `setting "k": got a list of values of type 9`, raw{}.begin(0, 1).str("k").u32(9).u32(9).zeros(30)},
	{"list", `setting "k": got a list of 1152921504606846976 values, want`, raw{}.begin(0, 1).list(1 << 60).zeros(8)},
	{"many values", "more than 2097152 values in lists", raw{}.begin(0, 1).list(1 << 22).zeros(8 << 22)},
	{"much text", "more than 33554432 bytes of strings", raw{}.begin(0, 1).text(1 << 26).zeros(1 << 26)},
	{"list ends", "ends in its head", raw{}.begin(0, 1).list(2).u64(3).u8(1, 2, 3, 0, 0, 0, 0, 0, 0)},
	{"alignment 0", "general.alignment: got 0, want", raw{}.begin(0, 1).align(0)},
	{"alignment", "general.alignment: got 4294967288, want", raw{}.begin(0, 1).align(math.MaxUint32 - 7)},
	{"alignment odd", "general.alignment: got 33, want", raw{}.begin(0, 1).align(33)},
	{"alignment type", "general.alignment: got 32, want", raw{}.begin(0, 1).str("general.alignment").u32(8).str("32")},
	{"beyond alignment", "tensor \"a\": got the offset 0 and 32 bytes, want them within the 0",
		raw{}.begin(1, 1).align(1<<20).unit("a", 0).zeros(64)},
	{"tensor twice", `tensor "a": the name is taken`, raw{}.begin(2, 0).unit("a", 0).unit("a", 32).zeros(96)},
	{"no axis", `tensor "a": shape: got 0 axes, want 1 to 4`, raw{}.begin(1, 0).tensor("a", 0, 0).zeros(96)},
	{"axes", `tensor "a": shape: got 4294967295 axes, want 1 to 4`,
		raw{}.begin(1, 0).str("a").u32(math.MaxUint32).zeros(96)},
	{"axis of 0", `tensor "a": shape: got an axis of 0`, raw{}.begin(1, 0).tensor("a", 0, 0, 0).zeros(96)},
	{"2^60 elements", `tensor "a": shape: got an axis of 1152921504606846976`,
		raw{}.begin(1, 0).tensor("a", 0, 0, 1<<60).zeros(96)},
	{"2^64 elements", `tensor "a": shape: got an axis of 4294967296`,
		raw{}.begin(1, 0).tensor("a", 0, 0, 1<<32, 1<<32, 2).zeros(96)},
	{"number format", `tensor "a": number format: got iq2_xs, want one of f32, f16, q4_0, q4_1,`,
		raw{}.begin(1, 0).tensor("a", 17, 0, 256).zeros(96)},
	{"unknown format", `tensor "a": number format: got number 99, want`,
		raw{}.begin(1, 0).tensor("a", 99, 0, 256).zeros(96)},
	{"rows", `tensor "a": shape: got [3 48], want rows of a multiple of 32 numbers for q8_0`,
		raw{}.begin(1, 0).tensor("a", 8, 0, 48, 3).zeros(300)},
	{"offset odd", `tensor "a": offset: got 4, want a multiple of 32`, raw{}.begin(1, 0).unit("a", 4).pad().zeros(64)},
	{"offset", `tensor "a": got the offset 64 and 32 bytes, want them within the 64 bytes`,
		raw{}.begin(1, 0).unit("a", 64).pad().zeros(64)},
	{"offset of 2^64", `tensor "a": got the offset 18446744073709551584 and 32 bytes`,
		raw{}.begin(1, 0).unit("a", math.MaxUint64-31).pad().zeros(64)},
	{"cut", `tensor "a": got the offset 0 and 32 bytes, want them within the 31 bytes`,
		raw{}.begin(1, 0).unit("a", 0).pad().zeros(31)},
	{"overlap", `tensor "a": got the offset 32, want at least 64, where the tensor before it ends`,
		raw{}.begin(2, 0).unit("a", 32).tensor("b", 0, 0, 16).pad().zeros(96)},
	{"same place", `tensor "b": got the offset 0, want at least 32`,
		raw{}.begin(2, 0).unit("a", 0).unit("b", 0).pad().zeros(96)},
}

// A file with impossible contents gives an error of one line, soon and with little memory.
func TestReadRefuses(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begin := time.Now()
			_, err := Parse(c.file)
			require.Less(t, time.Since(begin), 10*time.Second) // a second on an idle machine
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n")
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
		})
	}
}

// The largest lists and texts that are read take less than 100 MB.
func TestReadLargest(t *testing.T) {
	b := raw{}.begin(0, 2).text(maxText - 2 - 2*(maxValues-1)).zeros(maxText - 2 - 2*(maxValues-1)).
		str("l").u32(9).u32(8).u64(maxValues - 1)
	b = append(b, bytes.Repeat(raw{}.str("ab"), maxValues-1)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Parse(b)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
	require.Len(t, f.Value("l"), maxValues-1)
}

// Every prefix of a file gives an error or a file.
func TestReadCut(t *testing.T) {
	content := encoded(t, sample())
	for n := range content {
		f, err := Parse(content[:n])
		require.True(t, err != nil || n > len(content)-alignment, n)
		if err == nil {
			readAll(t, f)
		}
	}
}

// readAll converts all tensors.
func readAll(t testing.TB, f *File) {
	for _, of := range f.Tensors {
		require.NoError(t, of.Fill(make([]float32, of.Count())))
	}
}

// Any file gives an error of one line, or its tensors can be read.
func FuzzParse(f *testing.F) {
	f.Add(encoded(f, sample()))
	for _, c := range hostile {
		if len(c.file) < 1<<10 {
			f.Add([]byte(c.file))
		}
	}
	for _, typ := range readTypes() {
		numbers, size := types[typ].block, types[typ].bytes
		f.Add([]byte(raw{}.begin(1, 0).tensor("a", types[typ].code, 0, uint64(numbers), 2).pad().zeros(2 * size)))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := Parse(slices.Clone(content))
		if err != nil {
			require.False(t, strings.ContainsAny(err.Error(), "\n\r"), err)
			return
		}
		readAll(t, got)
	})
}
