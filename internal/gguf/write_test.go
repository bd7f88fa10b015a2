package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// floats returns a Fill with these elements.
func floats(elements ...float32) func([]float32) error {
	return func(to []float32) error {
		if copy(to, elements) != len(elements) {
			return errors.New("got fewer elements")
		}
		return nil
	}
}

func TestWriteExactBytes(t *testing.T) {
	var got bytes.Buffer
	require.NoError(t, Write(&got, &File{
		Settings: []Setting{{"a", "xy"}, {"b", uint32(7)}, {"c", []string{"p", ""}}, {"d", true}, {"e", []float32{-1}}},
		Tensors: []Tensor{
			{Name: "w", Shape: []int{2, 3}, Type: F32, Fill: floats(0, 1, 2, 3, 4, 5)},
			{Name: "h", Shape: []int{2}, Type: F16, Fill: floats(1, -2)},
			{Name: "b", Shape: []int{1}, Type: BF16, Fill: floats(1)},
		},
	}))
	u32, u64 := "\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00"
	head := "GGUF\x03" + u32 + "\x03" + u64 + "\x05" + u64 +
		"\x01" + u64 + "a\x08" + u32 + "\x02" + u64 + "xy" +
		"\x01" + u64 + "b\x04" + u32 + "\x07" + u32 +
		"\x01" + u64 + "c\x09" + u32 + "\x08" + u32 + "\x02" + u64 + "\x01" + u64 + "p\x00" + u64 +
		"\x01" + u64 + "d\x07" + u32 + "\x01" +
		"\x01" + u64 + "e\x09" + u32 + "\x06" + u32 + "\x01" + u64 + "\x00\x00\x80\xbf" +
		"\x01" + u64 + "w\x02" + u32 + "\x03" + u64 + "\x02" + u64 + "\x00" + u32 + "\x00" + u64 +
		"\x01" + u64 + "h\x01" + u32 + "\x02" + u64 + "\x01" + u32 + "\x20" + u64 +
		"\x01" + u64 + "b\x01" + u32 + "\x01" + u64 + "\x1e" + u32 + "\x40" + u64
	head += strings.Repeat("\x00", -len(head)&31)
	data := make([]byte, 96)
	for i := range 6 {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(i)))
	}
	copy(data[32:], "\x00\x3c\x00\xc0")
	copy(data[64:], "\x80\x3f")
	assert.Equal(t, head+string(data), got.String())
}

// A tensor of several chunks, whose size is no multiple of the alignment.
func TestWriteLong(t *testing.T) {
	long := make([]float32, 32*5001)
	for i := range long {
		long[i] = float32(i)
	}
	for typ, bytesOf := range map[Type]int{F32: 4 * len(long), F16: 2 * len(long), BF16: 2 * len(long), Q8: 34 * 5001} {
		if typ == F16 {
			long[len(long)-1] = 3
			for i := range long {
				long[i] = min(long[i], 60000)
			}
		}
		var got bytes.Buffer
		f := &File{Tensors: []Tensor{{Name: "w", Shape: []int{5001, 32}, Type: typ, Fill: floats(long...)}}}
		require.NoError(t, Write(&got, f))
		head, err := encodeHead(f)
		require.NoError(t, err)
		assert.Len(t, got.Bytes(), len(head)+bytesOf+padding(bytesOf), typ)
	}
}

func TestWriteRefuses(t *testing.T) {
	two := floats(1, 2)
	one := func(name string, typ Type, shape ...int) File {
		return File{Tensors: []Tensor{{Name: name, Shape: shape, Type: typ, Fill: two}}}
	}
	for _, c := range []struct {
		name string
		f    File
		want string
	}{
		{name: "name too long", f: one(strings.Repeat("x", 64), F32, 2),
			want: "name: got 64 bytes, want at most 63"},
		{name: "type", f: one("w", "q4_0", 2),
			want: `gguf: tensor "w": type: got "q4_0", want one of [f32 bf16 f16 q8_0]`},
		{name: "scalar", f: one("w", F32), want: "shape: got [], want 1 to 4 axes"},
		{name: "many axes", f: one("w", F32, 1, 1, 1, 1, 2),
			want: "want 1 to 4 axes"},
		{name: "empty", f: one("w", F32, 0, 2),
			want: "shape: got [0 2], want at least one element and fewer bytes than 2^63"},
		{name: "large", f: one("w", F32, math.MaxInt, 2),
			want: "and fewer bytes than 2^63"},
		{name: "row of no blocks", f: one("w", Q8, 32, 48),
			want: "shape: got [32 48], want rows of a multiple of 32 numbers for q8_0"},
		{name: "tensor twice", f: File{Tensors: slices.Repeat(one("w", F32, 2).Tensors, 2)},
			want: `tensor "w": the name is taken, want another`},
		{name: "key twice", f: File{Settings: []Setting{{"k", true}, {"k", true}}},
			want: `setting "k": the key is taken`},
		{name: "value", f: File{Settings: []Setting{{"k", 1}}}, want: `setting "k": got a int, want a string, bool,`},
		{name: "bytes", f: File{Settings: []Setting{{"k", []string{"\xff"}}}},
			want: `setting "k": got "\xff", want UTF-8`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			require.ErrorContains(t, Write(&b, &c.f), c.want)
			assert.Zero(t, b.Len(), "bytes written before the error")
		})
	}
}

// Errors found while elements are written name the tensor.
func TestWriteRefusesElements(t *testing.T) {
	row := make([]float32, 32)
	row[9] = 1e7
	unread := errors.New("unread")
	for _, c := range []struct {
		typ  Type
		fill func([]float32) error
		want string
	}{
		{F32, func([]float32) error { return unread }, "unread"},
		{F16, floats(row...), "got a number near element 9 that is too large for f16, want f32"},
		{Q8, floats(row...), "got a number near element 0 that is too large for q8_0, want f32"},
	} {
		f := &File{Tensors: []Tensor{{Name: "w", Shape: []int{1, 32}, Type: c.typ, Fill: c.fill}}}
		assert.EqualError(t, Write(&bytes.Buffer{}, f), `gguf: tensor "w": `+c.want)
	}
	row[9] = float32(math.Inf(1)) // all types can hold this number
	require.NoError(t, Write(&bytes.Buffer{},
		&File{Tensors: []Tensor{{Name: "w", Shape: []int{1, 32}, Type: F16, Fill: floats(row...)}}}))
}

// The elements of one tensor at a time are requested, in the file's order, and a writer's error is returned.
func TestWriteStreams(t *testing.T) {
	var b bytes.Buffer
	var seen []int
	memory := map[*float32]bool{}
	f := &File{}
	for _, name := range []string{"a", "b", "c"} {
		f.Tensors = append(f.Tensors, Tensor{Name: name, Shape: []int{2}, Type: F32, Fill: func(to []float32) error {
			seen, memory[&to[0]] = append(seen, b.Len()), true
			return floats(1, 2)(to)
		}})
	}
	require.NoError(t, Write(&b, f))
	n := b.Len()
	assert.Equal(t, []int{n - 96, n - 64, n - 32}, seen)
	assert.Len(t, memory, 1, "each tensor is in the memory of the one before")

	full := errors.New("disk full")
	for calls := range 7 { // the head, and elements and padding of each tensor
		require.ErrorIs(t, Write(&failing{left: calls, err: full}, f), full)
	}
}

type failing struct {
	left int
	err  error
}

func (w *failing) Write(b []byte) (int, error) {
	if w.left == 0 {
		return 0, w.err
	}
	w.left--
	return len(b), nil
}
