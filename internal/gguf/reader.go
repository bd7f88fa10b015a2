package gguf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// reader reads the head of a file. After an error it reads zeros.
type reader struct {
	rest         []byte
	most         uint64 // elements for which the file has space: a byte holds at most three
	values, text uint64 // how many were read
	err          error
}

// errShort is the error about a file that ends too early.
var errShort = errors.New("got a file that ends in its head, want a whole one")

func (r *reader) bytes(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.rest)) {
		if r.err == nil {
			r.err = errShort
		}
		return nil
	}
	to := r.rest[:n]
	r.rest = r.rest[n:]
	return to
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads a number of items.
func (r *reader) count(of string, most uint64) uint64 {
	n := r.uint64()
	if r.err == nil && n > most {
		r.err = fmt.Errorf("%s: got %d, want at most %d", of, n, most)
	}
	if r.err != nil {
		return 0
	}
	return n
}

// string reads a string. It may be invalid UTF-8, if tokens divide a character.
func (r *reader) string() string {
	b := r.bytes(r.uint64())
	if r.text += uint64(len(b)); r.text > maxText && r.err == nil {
		r.err = fmt.Errorf("got more than %d bytes of strings, want fewer", maxText)
	}
	if r.err != nil {
		return ""
	}
	return string(b)
}

// valueForm reads values of a type.
type valueForm struct {
	size int // the smallest number of bytes of a value
	one  func(r *reader) any
	list func(r *reader, n uint64) any
}

// valueForms maps the codes of types to the forms of their values.
var valueForms = map[uint32]valueForm{
	0:           numbers(1, func(b []byte) uint8 { return b[0] }),
	1:           numbers(1, func(b []byte) int8 { return int8(b[0]) }),
	2:           numbers(2, binary.LittleEndian.Uint16),
	3:           numbers(2, func(b []byte) int16 { return int16(binary.LittleEndian.Uint16(b)) }),
	uint32Code:  numbers(4, binary.LittleEndian.Uint32),
	int32Code:   numbers(4, func(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) }),
	float32Code: numbers(4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }),
	boolCode:    numbers(1, func(b []byte) bool { return b[0] != 0 }),
	stringCode:  valuesOf(8, (*reader).string),
	10:          numbers(8, binary.LittleEndian.Uint64),
	11:          numbers(8, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }),
	12:          numbers(8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }),
}

// numbers returns the form of values of a fixed size.
func numbers[T any](size int, decode func([]byte) T) valueForm {
	return valuesOf(size, func(r *reader) (v T) {
		if b := r.bytes(uint64(size)); b != nil {
			v = decode(b)
		}
		return v
	})
}

// valuesOf returns the form of values that a function reads.
func valuesOf[T any](size int, read func(*reader) T) valueForm {
	return valueForm{size, func(r *reader) any { return read(r) }, func(r *reader, n uint64) any {
		all := make([]T, n)
		for i := range all {
			if all[i] = read(r); r.err != nil {
				return nil
			}
		}
		return all
	}}
}

// value reads a value of the type with a code.
func (r *reader) value(code uint32) any {
	if code == listCode {
		of := r.uint32()
		form, ok := valueForms[of]
		n := r.uint64()
		switch {
		case r.err != nil:
			return nil
		case !ok:
			r.err = fmt.Errorf("got a list of values of type %d, want one of numbers, bools or strings", of)
			return nil
		case n > uint64(len(r.rest)/form.size):
			r.err = fmt.Errorf("got a list of %d values, want at most those that the file has room for", n)
			return nil
		}
		if r.values += n; r.values > maxValues {
			r.err = fmt.Errorf("got more than %d values in lists, want fewer", maxValues)
			return nil
		}
		return form.list(r, n)
	}
	form, ok := valueForms[code]
	if r.err == nil && !ok {
		r.err = fmt.Errorf("got a value of type %d, want a number, bool, string or list", code)
	}
	if r.err != nil {
		return nil
	}
	return form.one(r)
}
