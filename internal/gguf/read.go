package gguf

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of a file: a large model has 3,000 tensors, 1,000,000 tokens and merges, and 20 MB of text.
const (
	maxSettings = 1 << 16
	maxTensors  = 1 << 17
	maxValues   = 1 << 21 // in lists
	maxText     = 1 << 25 // bytes in strings
	maxAlign    = 1 << 20
)

// Parse reads the content of a file, to which the tensors refer.
func Parse(content []byte) (*File, error) {
	r := &reader{rest: content, most: uint64(min(len(content), math.MaxInt/4)) * 4}
	if string(r.bytes(uint64(len(magic)))) != magic {
		return nil, fmt.Errorf("got a file that does not begin with %s, want one that does", magic)
	}
	switch got := r.uint32(); {
	case r.err == nil && bits.ReverseBytes32(got) == version:
		return nil, errors.New("got numbers in big endian order, want little endian")
	case r.err == nil && got != version && got != 2: // which has the same format
		return nil, fmt.Errorf("version: got %d, want 2 or %d", got, version)
	}
	tensors := r.count("tensors", maxTensors)
	settings := r.count("settings", maxSettings)
	f := &File{}
	taken := map[string]bool{}
	for range settings {
		s := r.setting()
		if r.err == nil && taken[s.Key] {
			r.err = fmt.Errorf("setting %.100q: the key is taken, want another", s.Key)
		}
		if r.err != nil {
			return nil, r.err
		}
		taken[s.Key] = true
		f.Settings = append(f.Settings, s)
	}
	clear(taken)
	var offsets []uint64
	for range tensors {
		t, offset := r.tensor()
		if r.err == nil && taken[t.Name] {
			r.err = fmt.Errorf("tensor %.100q: the name is taken, want another", t.Name)
		}
		if r.err != nil {
			return nil, r.err
		}
		taken[t.Name] = true
		f.Tensors, offsets = append(f.Tensors, t), append(offsets, offset)
	}
	if r.err != nil {
		return nil, r.err
	}
	return f, f.place(content, len(content)-len(r.rest), offsets)
}

// place gives the tensors their bytes of a file's content, whose head has a number of bytes.
func (f *File) place(content []byte, head int, offsets []uint64) error {
	align := uint64(alignment)
	if v := f.Value("general.alignment"); v != nil {
		got, ok := v.(uint32)
		if align = uint64(got); !ok || got == 0 || got > maxAlign || got%8 != 0 {
			return fmt.Errorf("general.alignment: got %v, want a multiple of 8 up to %d", v, maxAlign)
		}
	}
	data := content[min(uint64(len(content)), (uint64(head)+align-1)/align*align):]
	order := make([]int, len(f.Tensors))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(offsets[a], offsets[b]) })
	end := uint64(0)
	for _, i := range order {
		t, offset := &f.Tensors[i], offsets[i]
		size := uint64(t.Count() / types[t.Type].block * types[t.Type].bytes)
		switch {
		case offset%align != 0:
			return fmt.Errorf("tensor %.100q: offset: got %d, want a multiple of %d", t.Name, offset, align)
		case offset > uint64(len(data)) || size > uint64(len(data))-offset:
			return fmt.Errorf("tensor %.100q: got the offset %d and %d bytes, want them within the %d bytes of the tensors",
				t.Name, offset, size, len(data))
		case offset < end:
			return fmt.Errorf("tensor %.100q: got the offset %d, want at least %d, where the tensor before it ends", t.Name,
				offset, end)
		}
		end = offset + size
		t.Stored = data[offset:end:end]
		of, stored := types[t.Type], t.Stored
		t.Fill = func(elements []float32) error {
			of.decode(elements, stored)
			return nil
		}
	}
	return nil
}

// setting reads a key with its value.
func (r *reader) setting() (s Setting) {
	s.Key = r.string()
	code := r.uint32()
	if r.err == nil && !utf8.ValidString(s.Key) {
		r.err = fmt.Errorf("setting %.100q: want a key in UTF-8", s.Key)
		return s
	}
	if s.Value = r.value(code); r.err != nil && r.err != errShort {
		r.err = fmt.Errorf("setting %.100q: %w", s.Key, r.err)
	}
	return s
}

// tensor reads the name, shape and type of a tensor, and where it begins.
func (r *reader) tensor() (t Tensor, offset uint64) {
	t.Name = r.string()
	rank := r.uint32()
	if r.err == nil && (rank < 1 || rank > maxRank) {
		r.err = fmt.Errorf("shape: got %d axes, want 1 to %d", rank, maxRank)
	}
	elements := uint64(1)
	for range rank {
		n := r.uint64()
		if r.err == nil && (n < 1 || n > r.most/elements) {
			r.err = fmt.Errorf("shape: got an axis of %d, want at least 1 and no more elements than the file has room for", n)
		}
		if r.err != nil {
			break
		}
		elements *= n
		t.Shape = append(t.Shape, int(n))
	}
	slices.Reverse(t.Shape)
	code := r.uint32()
	offset = r.uint64()
	if r.err == nil {
		r.err = t.setType(code)
	}
	if r.err != nil && r.err != errShort {
		r.err = fmt.Errorf("tensor %.100q: %w", t.Name, r.err)
	}
	return t, offset
}

// setType sets the type from its number and checks that the rows fit it.
func (t *Tensor) setType(code uint32) error {
	for name, of := range types {
		if of.code != code {
			continue
		}
		if t.Type = name; !name.Fits(t.Shape[len(t.Shape)-1]) {
			return fmt.Errorf("shape: got %v, want rows of a multiple of %d numbers for %s", t.Shape, of.block, name)
		}
		return nil
	}
	var want []string
	for _, name := range readTypes() {
		want = append(want, string(name))
	}
	got := unread[code]
	if got == "" {
		got = fmt.Sprintf("number %d", code)
	}
	return fmt.Errorf("number format: got %s, want one of %s", got, strings.Join(want, ", "))
}
