package train

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"attention/internal/dense"
	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

// WriteParams writes parameters and metadata to a safetensors file, under the
// parameters' own names, with a checksum of all its bytes that ReadParams checks. The
// file is written beside path and then renamed, so that path never holds half of it.
func WriteParams(path string, p *layers.Params, metadata map[string]string) error {
	if p == nil {
		return errNoParams
	}
	f, err := paramsFile(p, metadata)
	if err != nil {
		return err
	}
	if err := folder.WriteFile(path, func(w io.Writer) error { return safetensors.WriteSealed(w, f) }); err != nil {
		return fmt.Errorf("train: parameters: %s: %w", path, err)
	}
	return nil
}

// WriteParamsTo writes what WriteParams writes to a file.
func WriteParamsTo(w io.Writer, p *layers.Params, metadata map[string]string) error {
	if w == nil || p == nil {
		return errors.New("train: parameters: got nil for the writer or the parameters, want both")
	}
	f, err := paramsFile(p, metadata)
	if err != nil {
		return err
	}
	if err := safetensors.WriteSealed(w, f); err != nil {
		return fmt.Errorf("train: parameters: %w", err)
	}
	return nil
}

func paramsFile(p *layers.Params, metadata map[string]string) (*safetensors.File, error) {
	tensors, err := toFile("", p.All())
	return &safetensors.File{Metadata: metadata, Tensors: tensors}, err
}

// ReadParams copies the tensors of a safetensors file into the parameters, which
// every graph then sees, and returns the file's metadata. The file must hold just
// the parameters, each with its dtype and shape (half precision is widened to
// float32), and may hold their buffers (see layers.Params.Buffers), which are checked. The
// error lists all that is missing, unknown, or of another dtype or shape,
// and leaves the parameters as they were. If WriteParams wrote the file, the error for
// one that was changed since wraps ErrDamaged.
func ReadParams(path string, p *layers.Params) (metadata map[string]string, err error) {
	if p == nil {
		return nil, errNoParams
	}
	r, err := safetensors.Open(path)
	var f *safetensors.File
	if err == nil {
		besides := buffersIn(r, p)
		err = readFitting(r, path, bytesOf(p)+besides.bytes(), func() error {
			return compareSignatures(signatures("", p.All()), besides.without(signaturesIn(r)))
		}, func() error {
			f, err = r.ReadAll()
			return err
		})
		if err == nil {
			err = besides.check(f, path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("train: parameters: %w", err)
	}
	fromFile(f, "", p.All())
	return f.Metadata, nil
}

// readFitting reads an open file, of at most most bytes, that fits and is not damaged, and closes it.
// One that was changed may not fit any more, so its seal comes first. But a much larger one never fitted, and only its
// header is read.
func readFitting(r *safetensors.Reader, path string, most int64, fits, read func() error) error {
	defer r.Close()
	if r.Size() <= most {
		if err := r.CheckSeal(); err != nil {
			return err
		}
	}
	if err := fits(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if r.Size() > most {
		return fmt.Errorf("%s: got tensors of %d bytes, want at most %d", path, r.Size(), most)
	}
	return read()
}

// bytesOf returns the memory of parameters.
func bytesOf(p *layers.Params) int64 { return int64(p.Count()) * int64(p.Dtype().Size()) }

var errNoParams = errors.New("train: parameters: got nil, want Params")

// ReadTensor returns one tensor of a safetensors file, such as a state dict of PyTorch's,
// a model of WriteParams or a checkpoint, where the names of parameters begin with
// "params.". It reads no other tensor. The dtype is the file's, but float32 for half
// precision (F16, BF16), which that holds exactly. A tensor of no axes is a scalar.
// The error for another name lists names that the file has.
func ReadTensor(path, name string) (*tensor.Dense, error) {
	r, err := safetensors.Open(path)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	read, err := r.Read(name)
	var value *tensor.Dense
	if err == nil {
		value, err = fromTensor(read)
	}
	if err = oneline.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return value, nil
}

// ReadTensors returns all tensors of a safetensors file by their names, and its metadata
// (safetensors.torch.load_file). Dtypes and shapes are those of ReadTensor.
func ReadTensors(path string) (tensors map[string]*tensor.Dense, metadata map[string]string, err error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("train: %w", err)
	}
	tensors = make(map[string]*tensor.Dense, len(f.Tensors))
	for _, t := range f.Tensors {
		if tensors[t.Name], err = fromTensor(t); err != nil {
			return nil, nil, fmt.Errorf("train: %s: %w", path, err)
		}
	}
	return tensors, f.Metadata, nil
}

// WriteTensors writes tensors by their names, and metadata, which may be nil, to a
// safetensors file (safetensors.torch.save_file). They are of floats, integers or bools and
// row-major; an int is written as an int64. Equal maps give equal bytes. The file is written
// beside path and then renamed, so that path never holds half of it.
func WriteTensors(path string, tensors map[string]*tensor.Dense, metadata map[string]string) error {
	list := func(yield func(string, *tensor.Dense) bool) {
		for _, name := range slices.Sorted(maps.Keys(tensors)) {
			if !yield(name, tensors[name]) {
				return
			}
		}
	}
	all, err := toFile("", list)
	if err != nil {
		return err
	}
	if err := safetensors.WriteFile(path, &safetensors.File{Metadata: metadata, Tensors: all}); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// fromTensor returns a file's tensor with its own memory.
func fromTensor(t safetensors.Tensor) (*tensor.Dense, error) {
	shape := tensor.Shape(t.Shape)
	if slices.Contains(t.Shape, 0) {
		return nil, fmt.Errorf("tensor %.100q: got shape %v, want every axis at least 1", t.Name, shape)
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(t.Data)), nil
}

// toFile returns tensors as a file holds them, sharing their memory.
func toFile(prefix string, tensors iter.Seq2[string, *tensor.Dense]) (all []safetensors.Tensor, err error) {
	for name, value := range tensors {
		if !isTensor(value) {
			return nil, fmt.Errorf("train: value of %.100q: got nil or the zero value, want a tensor", name)
		}
		if err := checkLayout("value of "+name, value); err != nil {
			return nil, err
		}
		data := elementsOf(value)
		if _, ok := data.([]int); ok { // whose size depends on the machine
			data = dense.Ints(value)
		}
		all = append(all, safetensors.Tensor{Name: prefix + name, Shape: value.Shape(), Data: data})
	}
	return all, nil
}

// signaturesIn returns the signatures of a file's tensors as they are read.
func signaturesIn(r *safetensors.Reader) []signature {
	all := make([]signature, len(r.Tensors()))
	for i, t := range r.Tensors() {
		all[i] = signature{t.Name, fmt.Sprintf("%v %v", t.DType.Element(), tensor.Shape(t.Shape))}
	}
	return all
}

// fromFile copies a file's tensors, whose signatures are right, into tensors.
func fromFile(f *safetensors.File, prefix string, tensors iter.Seq2[string, *tensor.Dense]) {
	for name, value := range tensors {
		t, _ := f.Get(prefix + name)
		setElements(value, t.Data)
	}
}

// readInto copies a file's tensors, whose signatures are right, into tensors.
func readInto(r *safetensors.Reader, prefix string, tensors iter.Seq2[string, *tensor.Dense]) error {
	for name, value := range tensors {
		if err := r.ReadPart(prefix+name, 0, elementsOf(value)); err != nil {
			return err
		}
	}
	return nil
}
