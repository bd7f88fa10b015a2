package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"

	"attention/internal/folder"
)

// WriteFile writes f to the file at path, which a user names, as [folder.WriteFile] does: after a failure, the file at
// path has its old content. Errors name the path.
func WriteFile(path string, f *File) error {
	p, err := newPlan(f) // before any file is touched
	if err != nil {
		return fmt.Errorf("safetensors: %s: %w", path, err)
	}
	err = folder.WriteFile(path, p.write)
	if of, ok := errors.AsType[*fs.PathError](err); ok && of.Path == path {
		err = of.Err
	}
	if err != nil {
		return fmt.Errorf("safetensors: %s: %w", path, err)
	}
	return nil
}

// Write writes f to w. Tensors keep their order, except that wider elements come first, so
// that every tensor starts at a multiple of its element size: readers that map the file
// into memory need that. The bytes depend on f alone. Float data keeps the type of Data,
// also if it was read from F16 or BF16. Write returns an error for an f that it cannot
// write before the first byte.
func Write(w io.Writer, f *File) error {
	p, err := newPlan(f)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	if err := p.write(w); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	return nil
}

// plan is a checked file, ready to be written.
type plan struct {
	header []byte   // with its length and padding
	parts  []Tensor // in file order; DType is the type of Data
}

func newPlan(f *File) (*plan, error) {
	if f == nil {
		return nil, errors.New("file: got nil")
	}
	if len(f.Tensors) > maxTensors {
		return nil, fmt.Errorf("got %d tensors, want at most %d", len(f.Tensors), maxTensors)
	}
	p := &plan{parts: slices.Clone(f.Tensors)}
	seen := map[string]bool{metadataKey: true}
	for i := range p.parts {
		t := &p.parts[i]
		if seen[t.Name] {
			return nil, fmt.Errorf("tensor %s: the name is taken, want another", quote(t.Name))
		}
		seen[t.Name] = true
		if err := t.prepare(); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", quote(t.Name), err)
		}
	}
	slices.SortStableFunc(p.parts, func(a, b Tensor) int {
		return cmp.Compare(b.DType.Size(), a.DType.Size())
	})
	var err error
	p.header, err = encodeHeader(f.Metadata, p.parts)
	return p, err
}

// prepare sets DType from Data and checks name, shape and Data.
func (t *Tensor) prepare() error {
	if !utf8.ValidString(t.Name) {
		return errors.New("name: not valid UTF-8")
	}
	if err := checkName(t.Name); err != nil {
		return err
	}
	t.DType = dtypeOf(t.Data)
	if t.DType == "" {
		return fmt.Errorf("data: got %T, want a slice of float32, float64, int64, int32, int16, int8, uint8 or bool, "+
			"or a Stream", t.Data)
	}
	if len(t.Shape) > maxRank {
		return fmt.Errorf("shape: got %d axes, want at most %d", len(t.Shape), maxRank)
	}
	count, ok := countElements(t.Shape)
	n := count
	if _, streamed := t.Data.(Stream); !streamed {
		n = reflect.ValueOf(t.Data).Len()
	}
	if !ok || count != n {
		return fmt.Errorf("shape: got %d, want one that holds the %d elements of the data", t.Shape, n)
	}
	return nil
}

// encodeHeader returns the bytes of the file before the data. Metadata comes first, its
// keys sorted, then the tensors in the order of their data. The padding makes the data
// start at a multiple of 8.
func encodeHeader(metadata map[string]string, parts []Tensor) ([]byte, error) {
	b := append(make([]byte, 8), '{')
	if n := len(metadata); n > maxMetadataKeys {
		return nil, fmt.Errorf("metadata: got %d keys, want at most %d", n, maxMetadataKeys)
	}
	if len(metadata) > 0 {
		for key, value := range metadata {
			if !utf8.ValidString(key) || !utf8.ValidString(value) {
				return nil, fmt.Errorf("metadata %s: not valid UTF-8", quote(key))
			}
		}
		b = append(b, `"`+metadataKey+`":`...)
		begin := len(b)
		b = appendJSON(b, metadata)
		if n := len(b) - begin; n > maxMetadata {
			return nil, fmt.Errorf("metadata: needs %d bytes, want at most %d", n, maxMetadata)
		}
		b = append(b, ',')
	}
	var at int64
	for _, t := range parts {
		n, _ := countElements(t.Shape)
		end := at + int64(n)*int64(t.DType.Size())
		b = append(appendJSON(b, t.Name), ':')
		shape := make([]uint64, len(t.Shape))
		for i, n := range t.Shape {
			shape[i] = uint64(n)
		}
		b = append(appendJSON(b, description{t.DType, shape, []uint64{uint64(at), uint64(end)}}), ',')
		at = end
	}
	b = append(bytes.TrimSuffix(b, []byte{','}), '}')
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	n := len(b) - 8
	if n > maxHeader {
		return nil, fmt.Errorf("header: needs %d bytes, want at most %d", n, maxHeader)
	}
	binary.LittleEndian.PutUint64(b, uint64(n))
	return b, nil
}

// appendJSON appends a value. The keys of a map are sorted.
func appendJSON(b []byte, v any) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // what a header holds always encodes
	return append(b, bytes.TrimSuffix(text.Bytes(), []byte{'\n'})...)
}

func (p *plan) write(w io.Writer) error {
	if _, err := w.Write(p.header); err != nil {
		return err
	}
	buf := make([]byte, 0, chunk)
	for _, t := range p.parts {
		if err := t.write(w, buf); err != nil {
			return fmt.Errorf("tensor %s: %w", quote(t.Name), err)
		}
	}
	return nil
}

// writeData writes elements, one buffer at a time.
func writeData(w io.Writer, d DType, elements any, buf []byte) error {
	data, n := reflect.ValueOf(elements), chunk/d.Size()
	for at := 0; at < data.Len(); at += n {
		part := data.Slice(at, min(at+n, data.Len())).Interface()
		b, err := appendElements(buf[:0], d, part)
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// appendElements appends the bytes of elements in a file.
func appendElements(b []byte, d DType, elements any) ([]byte, error) {
	narrow := map[DType]func(float32) uint16{F16: Half, BF16: BFloat16}[d]
	if narrow == nil {
		return binary.Append(b, binary.LittleEndian, elements)
	}
	for _, x := range elements.([]float32) {
		if r := Round(d, x); math.IsInf(float64(r), 0) && !math.IsInf(float64(x), 0) {
			return nil, fmt.Errorf("got %v, want a number that %s holds", x, d)
		}
		b = binary.LittleEndian.AppendUint16(b, narrow(x))
	}
	return b, nil
}
