package safetensors

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// Reader reads the tensors of a file one by one into memory of the caller. It must not be
// used by several goroutines at once.
type Reader struct {
	path    string
	file    *os.File
	header  header
	data    int64 // offset of the data
	entries map[string]entry
	buf     []byte
}

// Open reads and checks the header of the safetensors file at path. Errors name the
// path; a missing file is [io/fs.ErrNotExist].
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	r := &Reader{path: path, file: file, entries: map[string]entry{}}
	if err := r.readHeader(); err != nil {
		_ = file.Close() // nothing was written to it
		return nil, fmt.Errorf("safetensors: %s: %w", path, err)
	}
	return r, nil
}

func (r *Reader) readHeader() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	section := io.NewSectionReader(r.file, 0, info.Size())
	if r.header, err = readHeader(section); err != nil {
		return err
	}
	r.data, _ = section.Seek(0, io.SeekCurrent) // the end of the header; a section does not fail here
	for _, e := range r.header.entries {
		r.entries[e.name] = e
	}
	return nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Metadata returns the header's __metadata__, or nil if it has none.
func (r *Reader) Metadata() map[string]string { return r.header.metadata }

// Tensors returns all tensors in the order of their data, with a nil Data.
func (r *Reader) Tensors() []Tensor {
	all := make([]Tensor, len(r.header.entries))
	for i, e := range r.header.entries {
		all[i] = Tensor{Name: e.name, Shape: e.shape, DType: e.dtype}
	}
	return all
}

// Read returns a tensor. The error for an unknown name lists names in the file.
func (r *Reader) Read(name string) (Tensor, error) {
	t, err := r.read(name)
	if err != nil {
		return Tensor{}, fmt.Errorf("safetensors: %s: tensor %s: %w", r.path, quote(name), short(err))
	}
	return t, nil
}

func (r *Reader) read(name string) (Tensor, error) {
	e, ok := r.entries[name]
	if !ok {
		return Tensor{}, fmt.Errorf("there is none of this name, only %s", r.names())
	}
	section := io.NewSectionReader(r.file, r.data+e.begin, e.end-e.begin)
	data, err := readData(section, e, make([]byte, min(chunk, max(e.end-e.begin, 8))))
	return Tensor{Name: e.name, Shape: e.shape, Data: data, DType: e.dtype}, err
}

// names returns the first names in the file and the number of the others.
func (r *Reader) names() string {
	const most = 5
	var list []string
	for _, e := range r.header.entries[:min(len(r.header.entries), most)] {
		list = append(list, quote(e.name))
	}
	text := strings.Join(list, ", ")
	if more := len(r.header.entries) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return cmp.Or(text, "metadata")
}

// ReadFloats fills dst with the elements of a tensor of floating-point numbers. dst must
// have the tensor's length. Elements wider than F are rounded to the nearest.
func ReadFloats[F float32 | float64](r *Reader, name string, dst []F) error {
	if err := readFloats(r, name, dst); err != nil {
		return fmt.Errorf("safetensors: %s: tensor %s: %w", r.path, quote(name), short(err))
	}
	return nil
}

func readFloats[F float32 | float64](r *Reader, name string, dst []F) error {
	e, ok := r.entries[name]
	if !ok {
		return errors.New("there is none of this name")
	}
	if len(dst) != e.count {
		return fmt.Errorf("destination: got %d elements, want %d", len(dst), e.count)
	}
	var decode func(dst []F, src []byte) error
	switch le := binary.LittleEndian; e.dtype {
	case F64:
		decode = func(dst []F, src []byte) error {
			for i := range dst {
				dst[i] = F(math.Float64frombits(le.Uint64(src[8*i:])))
			}
			return nil
		}
	case F32:
		decode = func(dst []F, src []byte) error {
			for i := range dst {
				dst[i] = F(math.Float32frombits(le.Uint32(src[4*i:])))
			}
			return nil
		}
	case F16:
		decode = widen[F](halfToFloat32)
	case BF16:
		decode = widen[F](bfloat16ToFloat32)
	default:
		return fmt.Errorf("dtype: got %s, want F64, F32, F16 or BF16", e.dtype)
	}
	if r.buf == nil {
		r.buf = make([]byte, chunk)
	}
	from := io.NewSectionReader(r.file, r.data+e.begin, e.end-e.begin)
	return fill(dst, from, e.dtype.Size(), r.buf, decode)
}
