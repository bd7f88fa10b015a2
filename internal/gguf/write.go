package gguf

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"
)

const (
	magic   = "GGUF"
	version = 3

	// alignment is the number of bytes to whose multiples the beginnings of tensors are aligned, unless a file says
	// another.
	alignment = 32

	// maxName is the largest length of a tensor's name in bytes: llama.cpp has 64 bytes, including a zero at the end.
	maxName = 63

	// maxRank is the most axes of a tensor.
	maxRank = 4
)

// Write writes a file. It requests the elements of each tensor only when it writes this tensor. Errors about a file
// that cannot be written come before the first byte; an error about an element that does not fit its type comes when
// Write reaches the element.
func Write(w io.Writer, f *File) error {
	head, err := encodeHead(f)
	if err != nil {
		return fmt.Errorf("gguf: %w", err)
	}
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("gguf: %w", err)
	}
	var elements []float32
	for _, t := range f.Tensors {
		elements = slices.Grow(elements[:0], t.Count())[:t.Count()]
		if err := t.write(w, elements); err != nil {
			return fmt.Errorf("gguf: tensor %.100q: %w", t.Name, err)
		}
	}
	return nil
}

// encodeHead returns the bytes before the elements.
func encodeHead(f *File) ([]byte, error) {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte(magic), version)
	b = le.AppendUint64(b, uint64(len(f.Tensors)))
	b = le.AppendUint64(b, uint64(len(f.Settings)))
	taken := map[string]bool{}
	for _, s := range f.Settings {
		if taken[s.Key] {
			return nil, fmt.Errorf("setting %.100q: the key is taken, want another", s.Key)
		}
		taken[s.Key] = true
		code, value, err := encodeValue(s.Value)
		if err != nil {
			return nil, fmt.Errorf("setting %.100q: %w", s.Key, err)
		}
		b = append(le.AppendUint32(appendString(b, s.Key), code), value...)
	}
	clear(taken)
	offset := 0
	for _, t := range f.Tensors {
		if taken[t.Name] {
			return nil, fmt.Errorf("tensor %.100q: the name is taken, want another", t.Name)
		}
		taken[t.Name] = true
		size, err := t.size()
		if err != nil {
			return nil, fmt.Errorf("tensor %.100q: %w", t.Name, err)
		}
		b = le.AppendUint32(appendString(b, t.Name), uint32(len(t.Shape)))
		for i := range t.Shape {
			b = le.AppendUint64(b, uint64(t.Shape[len(t.Shape)-1-i]))
		}
		b = le.AppendUint64(le.AppendUint32(b, types[t.Type].code), uint64(offset))
		offset += size + padding(size)
	}
	return append(b, make([]byte, padding(len(b)))...), nil
}

// padding returns the number of bytes up to the next multiple of alignment.
func padding(n int) int { return (alignment - n%alignment) % alignment }

// The codes of the types of values that are written; valueForms has those that are read.
const (
	uint32Code  = 4
	int32Code   = 5
	float32Code = 6
	boolCode    = 7
	stringCode  = 8
	listCode    = 9
)

// encodeValue returns the code of a value's type and its bytes.
func encodeValue(v any) (code uint32, value []byte, err error) {
	switch v := v.(type) {
	case uint32:
		return uint32Code, binary.LittleEndian.AppendUint32(nil, v), nil
	case int32:
		return int32Code, binary.LittleEndian.AppendUint32(nil, uint32(v)), nil
	case float32:
		return float32Code, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)), nil
	case bool:
		if v {
			return boolCode, []byte{1}, nil
		}
		return boolCode, []byte{0}, nil
	case string:
		if !utf8.ValidString(v) {
			return 0, nil, fmt.Errorf("got %.100q, want UTF-8", v)
		}
		return stringCode, appendString(nil, v), nil
	case []uint32:
		return encodeValues(uint32Code, v)
	case []int32:
		return encodeValues(int32Code, v)
	case []float32:
		return encodeValues(float32Code, v)
	case []bool:
		return encodeValues(boolCode, v)
	case []string:
		return encodeValues(stringCode, v)
	}
	return 0, nil, fmt.Errorf("got a %T, want a string, bool, uint32, int32, float32 or a slice of them", v)
}

// encodeValues is encodeValue for a slice of values of the type with this code.
func encodeValues[T any](of uint32, values []T) (code uint32, value []byte, err error) {
	value = binary.LittleEndian.AppendUint32(nil, of)
	value = binary.LittleEndian.AppendUint64(value, uint64(len(values)))
	for _, v := range values {
		_, one, err := encodeValue(v)
		if err != nil {
			return 0, nil, err
		}
		value = append(value, one...)
	}
	return listCode, value, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

// size returns the bytes of the elements, or an error for a tensor that the format cannot represent.
func (t *Tensor) size() (int, error) {
	of := types[t.Type]
	switch {
	case len(t.Name) > maxName:
		return 0, fmt.Errorf("name: got %d bytes, want at most %d", len(t.Name), maxName)
	case of.encode == nil:
		return 0, fmt.Errorf("type: got %q, want one of %v", t.Type, Types())
	case len(t.Shape) < 1 || len(t.Shape) > maxRank:
		return 0, fmt.Errorf("shape: got %v, want 1 to %d axes", t.Shape, maxRank)
	case !t.Type.Fits(t.Shape[len(t.Shape)-1]):
		return 0, fmt.Errorf("shape: got %v, want rows of a multiple of %d numbers for %s", t.Shape, of.block, t.Type)
	}
	blocks := 1
	for i, n := range t.Shape {
		if i == len(t.Shape)-1 {
			n /= of.block
		}
		if n < 1 || blocks > math.MaxInt/of.bytes/n {
			return 0, fmt.Errorf("shape: got %v, want at least one element and fewer bytes than 2^63", t.Shape)
		}
		blocks *= n
	}
	return blocks * of.bytes, nil
}

// write writes the elements, using the given memory, and the padding behind them.
func (t *Tensor) write(w io.Writer, elements []float32) error {
	if err := t.Fill(elements); err != nil {
		return err
	}
	const chunk = 1 << 14 // a multiple of all block sizes
	var stored []byte
	written := 0
	for part := range slices.Chunk(elements, chunk) {
		stored = types[t.Type].encode(stored[:0], part)
		if at := overflow(t.Type, stored, part); at >= 0 {
			return fmt.Errorf("got a number near element %d that is too large for %s, want %s", at, t.Type, F32)
		}
		if _, err := w.Write(stored); err != nil {
			return err
		}
		written += len(stored)
	}
	_, err := w.Write(make([]byte, padding(written)))
	return err
}
