package safetensors

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"

	"attention/internal/folder"
	"attention/internal/oneline"
)

// Reader reads the tensors of a file one by one into memory of the caller. It is not safe for concurrent use.
type Reader struct {
	path     string
	file     *os.File
	contents *contents
	named    map[string]entry
	memory   []byte // memory of the whole file, once Bytes has mapped it
	unmapped bool   // it cannot be mapped
}

// Open reads and checks the header of the safetensors file at path. Errors name the
// path; a missing file is [io/fs.ErrNotExist].
func Open(path string) (*Reader, error) {
	file, err := folder.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	r, err := newReader(file)
	if err != nil {
		_ = file.Close() // nothing was written to it
		return nil, fmt.Errorf("safetensors: %s: %w", path, err)
	}
	return r, nil
}

// newReader reads and checks the header of a file.
func newReader(file *os.File) (*Reader, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	c, err := readHeader(file, info.Size())
	if err != nil {
		return nil, err
	}
	r := &Reader{path: file.Name(), file: file, contents: c, named: make(map[string]entry, len(c.entries))}
	for _, e := range c.entries {
		r.named[e.name] = e
	}
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Metadata returns the header's __metadata__ without the seal, or nil if it has none.
func (r *Reader) Metadata() map[string]string { return r.contents.metadata }

// Size returns the number of bytes of all tensors.
func (r *Reader) Size() int64 { return r.contents.data.Size() }

// ReadAll reads all tensors. It does not check the seal.
func (r *Reader) ReadAll() (*File, error) {
	f, err := r.contents.tensors()
	if err != nil {
		return nil, fmt.Errorf("safetensors: %s: %w", r.path, err)
	}
	return f, nil
}

// Tensors returns all tensors in the order of their data, with a nil Data.
func (r *Reader) Tensors() []Tensor {
	all := make([]Tensor, len(r.contents.entries))
	for i, e := range r.contents.entries {
		all[i] = e.tensor(nil)
	}
	return all
}

// Read returns a tensor. The error for an unknown name lists names in the file.
func (r *Reader) Read(name string) (Tensor, error) {
	e, ok := r.named[name]
	if !ok {
		return Tensor{}, r.wrap(name, fmt.Errorf("there is none of this name, only %s", r.names()))
	}
	data, err := r.contents.read(e)
	if err != nil {
		return Tensor{}, r.wrap(name, err)
	}
	return e.tensor(data), nil
}

// ReadPart fills into, a slice of the type of Tensor.Data, with a tensor's elements from index lo on.
func (r *Reader) ReadPart(name string, lo int, into any) error {
	e, ok := r.named[name]
	if !ok {
		return r.wrap(name, errors.New("there is none of this name"))
	}
	want := dtypes[e.dtype].data
	if reflect.TypeOf(into) != want {
		return r.wrap(name, fmt.Errorf("destination: got a %T, want a %v", into, want))
	}
	to := reflect.ValueOf(into)
	if n := to.Len(); lo < 0 || lo > e.count-n {
		return r.wrap(name, fmt.Errorf("destination: got %d elements from %d on, want some of %d", n, lo, e.count))
	}
	size := int64(e.dtype.Size())
	e.begin, e.count = e.begin+int64(lo)*size, to.Len()
	e.end = e.begin + int64(e.count)*size
	err := r.contents.parts(e, func(at, n int, src []byte) error {
		return decode(e.dtype, to.Slice(at, at+n).Interface(), src)
	})
	if err != nil {
		return r.wrap(name, err)
	}
	return nil
}

// wrap returns an error about a tensor.
func (r *Reader) wrap(name string, err error) error {
	return fmt.Errorf("safetensors: %s: tensor %s: %w", r.path, quote(name), err)
}

// names returns the first names in the file and the number of the others.
func (r *Reader) names() string {
	var all []string
	for _, e := range r.contents.entries {
		all = append(all, quote(e.name))
	}
	return cmp.Or(oneline.List(all, 5), "metadata")
}

// ReadFloats fills dst with the elements of a tensor of floating-point numbers. dst must
// have the tensor's length. Elements wider than F are rounded to the nearest.
func ReadFloats[F float32 | float64](r *Reader, name string, dst []F) error {
	e, ok := r.named[name]
	switch {
	case !ok:
		return r.wrap(name, errors.New("there is none of this name"))
	case len(dst) != e.count:
		return r.wrap(name, fmt.Errorf("destination: got %d elements, want %d", len(dst), e.count))
	case e.dtype != F64 && e.dtype != F32 && e.dtype != F16 && e.dtype != BF16:
		return r.wrap(name, fmt.Errorf("dtype: got %s, want F64, F32, F16 or BF16", e.dtype))
	}
	err := r.contents.parts(e, func(at, n int, src []byte) error {
		decodeFloats(e.dtype, dst[at:at+n], src)
		return nil
	})
	if err != nil {
		return r.wrap(name, err)
	}
	return nil
}

// decodeFloats decodes elements of a floating-point dtype.
func decodeFloats[F float32 | float64](d DType, dst []F, src []byte) {
	switch le := binary.LittleEndian; d {
	case F64:
		for i := range dst {
			dst[i] = F(math.Float64frombits(le.Uint64(src[8*i:])))
		}
	case F32:
		for i := range dst {
			dst[i] = F(math.Float32frombits(le.Uint32(src[4*i:])))
		}
	case F16:
		widen(dst, src, FromHalf)
	case BF16:
		for i := range dst {
			dst[i] = F(bfloat16ToFloat32(le.Uint16(src[2*i:])))
		}
	}
}
