package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// ReadFile reads the safetensors file at path and checks its seal if it has one. Errors name
// the path; a missing file is [io/fs.ErrNotExist].
func ReadFile(path string) (*File, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := r.contents.all()
	if err != nil {
		return nil, fmt.Errorf("safetensors: %s: %w", path, err)
	}
	return f, nil
}

// Read reads a safetensors file of size bytes and checks its seal if it has one. The data goes
// from r into the tensors through one small buffer.
func Read(r io.ReaderAt, size int64) (*File, error) {
	c, err := readHeader(r, size)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	f, err := c.all()
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return f, nil
}

// contents is a file whose header was read and checked.
type contents struct {
	header
	sealed bool
	seal   string // its digits
	file   io.ReaderAt
	begin  int64 // of the data
	data   *io.SectionReader
	buf    []byte
}

// readHeader reads a file's header, up to its data.
func readHeader(r io.ReaderAt, size int64) (*contents, error) {
	if size < 8 {
		return nil, fmt.Errorf("file is %d bytes, want at least the 8 of the header's length", size)
	}
	section := io.NewSectionReader(r, 0, size)
	var prefix [8]byte
	if _, err := io.ReadFull(section, prefix[:]); err != nil {
		return nil, fmt.Errorf("header length: %w", short(err))
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	switch {
	case string(prefix[:]) == "version ": // https://git-lfs.github.com/spec/v1
		return nil, errors.New("got a pointer of Git LFS, want the file itself, which git lfs pull fetches")
	case n > maxHeader:
		return nil, fmt.Errorf("header length: got %d bytes, want at most %d", n, maxHeader)
	case int64(n) > size-8:
		return nil, fmt.Errorf("header length: got %d bytes, but only %d follow", n, size-8)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(section, text); err != nil {
		return nil, fmt.Errorf("header: %w", short(err))
	}
	begin := 8 + int64(n)
	h, err := parseHeader(text, size-begin)
	if err != nil {
		return nil, err
	}
	c := &contents{header: h, file: r, begin: begin, data: io.NewSectionReader(r, begin, size-begin),
		buf: make([]byte, min(chunk, size))}
	c.takeSeal()
	return c, nil
}

// all reads all tensors and checks the seal if there is one.
func (c *contents) all() (*File, error) {
	if err := c.checkSeal(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return c.tensors()
}

// tensors reads all tensors.
func (c *contents) tensors() (*File, error) {
	f := &File{Metadata: c.metadata, Tensors: make([]Tensor, len(c.entries))}
	for i, e := range c.entries {
		data, err := c.read(e)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", quote(e.name), err)
		}
		f.Tensors[i] = e.tensor(data)
	}
	return f, nil
}

// read reads the elements of a tensor. The header was checked against the size of the file,
// so the slice is at most twice as long as the file.
func (c *contents) read(e entry) (any, error) {
	all := reflect.MakeSlice(dtypes[e.dtype].data, e.count, e.count)
	err := c.parts(e, func(at, n int, src []byte) error {
		return decode(e.dtype, all.Slice(at, at+n).Interface(), src)
	})
	return all.Interface(), err
}

// parts calls use for n elements of a tensor from index at on, with their bytes, one buffer at a time.
func (c *contents) parts(e entry, use func(at, n int, src []byte) error) error {
	r := io.NewSectionReader(c.data, e.begin, e.end-e.begin)
	size := e.dtype.Size()
	most := len(c.buf) / size
	for at := 0; at < e.count; at += most {
		n := min(most, e.count-at)
		src := c.buf[:n*size]
		if _, err := io.ReadFull(r, src); err != nil {
			return short(err)
		}
		if err := use(at, n, src); err != nil {
			return err
		}
	}
	return nil
}

// short returns err, or io.ErrUnexpectedEOF for io.EOF: the header promises more bytes.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decode decodes elements of a dtype into dst, a slice of as many of the dtype's Go type.
func decode(d DType, dst any, src []byte) error {
	switch d {
	case F16:
		widen(dst.([]float32), src, FromHalf)
		return nil
	case BF16:
		widen(dst.([]float32), src, bfloat16ToFloat32)
		return nil
	case BOOL:
		for _, b := range src {
			if b > 1 { // writing the tensor again would change it
				return fmt.Errorf("BOOL element: got byte %d, want 0 or 1", b)
			}
		}
	}
	_, err := binary.Decode(src, binary.LittleEndian, dst)
	return err
}

// widen decodes two-byte elements that convert widens.
func widen[F float32 | float64](dst []F, src []byte, convert func(uint16) float32) {
	for i := range dst {
		dst[i] = F(convert(binary.LittleEndian.Uint16(src[2*i:])))
	}
}
