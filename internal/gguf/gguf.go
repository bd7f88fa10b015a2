// Package gguf reads and writes GGUF, the format of the files of llama.cpp: settings, a tokenizer and tensors as one
// file.
//
// A file is, in this order, all numbers little endian:
//
//	"GGUF", the version 3, the number of tensors, the number of settings
//	the settings: key, type and value of each
//	the tensors: name, shape (innermost axis first), type and offset of each
//	the elements of the tensors, each tensor at a multiple of 32 bytes, or of general.alignment
package gguf

import (
	"fmt"
	"math"
	"reflect"
)

// File is the content of a file.
type File struct {
	Settings []Setting // in the file's order
	Tensors  []Tensor  // in the file's order
	Mapped   bool      // tensors that were read are in the memory of the file, which Go does not manage
}

// Setting is a key with its value, a string, bool, uint32, int32 or float32 or a slice of one of them. A file that is
// read may also have numbers of 8, 16 and 64 bits.
type Setting struct {
	Key   string
	Value any
}

// Tensor is one named array.
type Tensor struct {
	Name  string
	Shape []int // outermost axis first, as elsewhere; the file has the opposite order
	Type  Type
	// Fill sets the elements in row-major order. Write calls it once for each tensor, so the memory is that of the largest
	// tensor. For a tensor that was read, it converts the elements and may be called any number of times.
	Fill func(elements []float32) error
	// Stored holds the elements of a tensor that was read, in the file's format: memory of the file if it can be mapped.
	Stored []byte
}

// Count returns the number of elements.
func (t *Tensor) Count() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Value returns the value of a key; nil if the file has none.
func (f *File) Value(key string) any {
	for _, s := range f.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return nil
}

// Get sets a variable to the value of a key, if the file has it: an int to any integer that fits. A value of another
// type is an error that names the key.
func Get[T any](f *File, key string, to *T) error {
	v := f.Value(key)
	if v == nil {
		return nil
	}
	if got, ok := v.(T); ok {
		*to = got
		return nil
	}
	if n, ok := any(to).(*int); ok {
		if of := reflect.ValueOf(v); of.CanInt() {
			*n = int(of.Int())
			return nil
		} else if of.CanUint() && of.Uint() <= math.MaxInt {
			*n = int(of.Uint())
			return nil
		}
	}
	return fmt.Errorf("setting %s: got a %T, want a %T", key, v, *to)
}
