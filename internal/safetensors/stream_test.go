package safetensors

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"attention/internal/folder"

	"github.com/stretchr/testify/require"
)

// streamed returns a file whose tensors come in parts, with memory that is overwritten after each part.
func streamed(f *File, most int) *File {
	parts := &File{Metadata: f.Metadata}
	for _, t := range f.Tensors {
		data := reflect.ValueOf(t.Data)
		room := reflect.MakeSlice(data.Type(), most, most)
		t.Data = Stream{DType: dtypeOf(t.Data), Each: func(write func(any) error) error {
			for at := 0; at < data.Len(); at += most {
				n := reflect.Copy(room, data.Slice(at, data.Len()))
				if err := write(room.Slice(0, n).Interface()); err != nil {
					return err
				}
			}
			return nil
		}}
		parts.Tensors = append(parts.Tensors, t)
	}
	return parts
}

// A stream gives the bytes that a slice gives, sealed or not, in a file and elsewhere.
func TestWriteStream(t *testing.T) {
	f := &File{Metadata: map[string]string{"a": "b"}, Tensors: []Tensor{
		{Name: "f", Shape: []int{7, 3000}, Data: make([]float32, 21000)},
		{Name: "d", Shape: []int{3}, Data: []float64{1, 2, 3}},
		{Name: "i", Shape: []int{}, Data: []int64{4}},
		{Name: "none", Shape: []int{0}, Data: []int8{}},
	}}
	for i := range 21000 {
		f.Tensors[0].Data.([]float32)[i] = float32(i)
	}
	var want, wantSealed bytes.Buffer
	require.NoError(t, Write(&want, f))
	require.NoError(t, WriteSealed(&wantSealed, f))
	path := filepath.Join(t.TempDir(), "file")
	for _, most := range []int{1, 1000, 100000} {
		var got, sealed bytes.Buffer
		require.NoError(t, Write(&got, streamed(f, most)))
		require.NoError(t, WriteSealed(&sealed, streamed(f, most)))
		require.NoError(t, folder.WriteFile(path, func(w io.Writer) error { return WriteSealed(w, streamed(f, most)) }))
		inFile := must(os.ReadFile(path))
		require.True(t, bytes.Equal(want.Bytes(), got.Bytes()))
		require.True(t, bytes.Equal(wantSealed.Bytes(), sealed.Bytes()))
		require.True(t, bytes.Equal(wantSealed.Bytes(), inFile))
	}
}

func TestWriteRefusesAStream(t *testing.T) {
	failed := errors.New("cable cut")
	of := func(parts ...any) func(func(any) error) error {
		return func(write func(any) error) error {
			for _, part := range parts {
				if err, ok := part.(error); ok {
					return err
				}
				if err := write(part); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, row := range []struct {
		name   string
		stream Stream
		want   string
	}{
		{"nothing", Stream{}, "data: got safetensors.Stream, want"},
		{"no dtype", Stream{Each: of()}, "data: got safetensors.Stream, want"},
		{"half", Stream{F16, of([]uint16{1, 2})}, `tensor "w": stream: got a []uint16, want a slice for F16`},
		{"too large for half", Stream{F16, of([]float32{1, -65520})}, `tensor "w": got -65520, want a number that F16 holds`},
		{"too few", Stream{F32, of([]float32{1})}, `tensor "w": stream: got 1 elements, want 2`},
		{"too many", Stream{F32, of([]float32{1}, []float32{2, 3})}, `tensor "w": stream: got 3 elements, want 2`},
		{"another type", Stream{F32, of([]float64{1, 2})}, `tensor "w": stream: got a []float64, want a slice for F32`},
		{"a stream", Stream{F32, of(Stream{F32, of([]float32{1, 2})})},
			`tensor "w": stream: got a safetensors.Stream, want a slice for F32`},
		{"failed", Stream{F32, of([]float32{1}, failed)}, `tensor "w": cable cut`},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := Write(io.Discard, &File{Tensors: []Tensor{{Name: "w", Shape: []int{2}, Data: row.stream}}})
			require.ErrorContains(t, err, row.want)
		})
	}
}
