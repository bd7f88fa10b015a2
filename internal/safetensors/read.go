package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// ReadFile reads the safetensors file at path. Errors name the path; a missing
// file is [io/fs.ErrNotExist].
func ReadFile(path string) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	f, err := read(r, info.Size())
	if err != nil {
		return nil, fmt.Errorf("safetensors: %s: %w", path, err)
	}
	return f, nil
}

// Read reads a safetensors file of size bytes. The data goes from r into the tensors
// through one small buffer.
func Read(r io.ReaderAt, size int64) (*File, error) {
	f, err := read(r, size)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return f, nil
}

func read(at io.ReaderAt, size int64) (*File, error) {
	r := io.NewSectionReader(at, 0, size)
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	f := &File{Metadata: h.metadata, Tensors: make([]Tensor, len(h.entries))}
	buf := make([]byte, min(chunk, size))
	for i, e := range h.entries {
		data, err := readData(r, e, buf)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", quote(e.name), short(err))
		}
		f.Tensors[i] = Tensor{Name: e.name, Shape: e.shape, Data: data, DType: e.dtype}
	}
	return f, nil
}

// readHeader reads a file's header, up to its data.
func readHeader(r *io.SectionReader) (header, error) {
	size := r.Size()
	if size < 8 {
		return header{}, fmt.Errorf("file is %d bytes, want at least the 8 of the header's length", size)
	}
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return header{}, fmt.Errorf("header length: %w", short(err))
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	switch {
	case n > maxHeader:
		return header{}, fmt.Errorf("header length: got %d bytes, want at most %d", n, maxHeader)
	case int64(n) > size-8:
		return header{}, fmt.Errorf("header length: got %d bytes, but only %d follow", n, size-8)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return header{}, fmt.Errorf("header: %w", short(err))
	}
	return parseHeader(text, size-8-int64(n))
}

// short returns err, or io.ErrUnexpectedEOF for io.EOF: the header promises more bytes.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readData reads the elements of the next tensor in r.
func readData(r io.Reader, e entry, buf []byte) (any, error) {
	switch e.dtype {
	case F64:
		return readSlice(r, e, buf, plain[float64])
	case F32:
		return readSlice(r, e, buf, plain[float32])
	case F16:
		return readSlice(r, e, buf, widen[float32](halfToFloat32))
	case BF16:
		return readSlice(r, e, buf, widen[float32](bfloat16ToFloat32))
	case I64:
		return readSlice(r, e, buf, plain[int64])
	case I32:
		return readSlice(r, e, buf, plain[int32])
	case I16:
		return readSlice(r, e, buf, plain[int16])
	case I8:
		return readSlice(r, e, buf, plain[int8])
	case U8:
		return readSlice(r, e, buf, plain[uint8])
	case BOOL:
		return readSlice(r, e, buf, booleans)
	}
	return nil, fmt.Errorf("dtype: got %s, want %s", quote(string(e.dtype)), knownDTypes)
}

// readSlice reads the elements of one tensor. The header was checked against the size of
// the file, so the slice is at most twice as long as the file.
func readSlice[T any](r io.Reader, e entry, buf []byte, decode func([]T, []byte) error) (any, error) {
	all := make([]T, e.count)
	if err := fill(all, r, e.dtype.Size(), buf, decode); err != nil {
		return nil, err
	}
	return all, nil
}

// fill fills dst with elements of size bytes each, one buffer at a time.
func fill[T any](dst []T, r io.Reader, size int, buf []byte, decode func([]T, []byte) error) error {
	for len(dst) > 0 {
		n := min(len(dst), len(buf)/size)
		if _, err := io.ReadFull(r, buf[:n*size]); err != nil {
			return err
		}
		if err := decode(dst[:n], buf[:n*size]); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

// plain decodes elements of a type that Go has.
func plain[T any](dst []T, src []byte) error {
	_, err := binary.Decode(src, binary.LittleEndian, dst)
	return err
}

// widen returns a decoder of two-byte elements that convert widens.
func widen[F float32 | float64](convert func(uint16) float32) func([]F, []byte) error {
	return func(dst []F, src []byte) error {
		for i := range dst {
			dst[i] = F(convert(binary.LittleEndian.Uint16(src[2*i:])))
		}
		return nil
	}
}

// booleans decodes bytes that are 0 or 1. It refuses others, since writing the tensor again
// would change them.
func booleans(dst []bool, src []byte) error {
	for i, b := range src {
		if b > 1 {
			return fmt.Errorf("BOOL element: got byte %d, want 0 or 1", b)
		}
		dst[i] = b == 1
	}
	return nil
}
