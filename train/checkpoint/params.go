package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"attention/internal/dense"
	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

// WriteParams writes parameters and metadata to a safetensors file, under the
// parameters' own names, with a checksum of all its bytes that ReadParams checks. The
// file is written beside path and then renamed, so that path never holds half of it.
func WriteParams(path string, p *layers.Params, metadata map[string]string) error {
	f, err := paramsFile(p, metadata)
	if err != nil {
		return err
	}
	if err := folder.WriteFile(path, func(w io.Writer) error { return safetensors.WriteSealed(w, f) }); err != nil {
		return fmt.Errorf("train: parameters: %s: %w", path, err)
	}
	return nil
}

// WriteParamsTo writes the content of WriteParams to w.
func WriteParamsTo(w io.Writer, p *layers.Params, metadata map[string]string) error {
	if w == nil {
		return errors.New("train: parameters: got nil, want a writer")
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

// paramsFile returns the file of parameters.
func paramsFile(p *layers.Params, metadata map[string]string) (*safetensors.File, error) {
	if err := checkParams(p); err != nil {
		return nil, err
	}
	tensors, err := toFile("", p.Own())
	return &safetensors.File{Metadata: metadata, Tensors: tensors}, err
}

// ReadParams copies the tensors of a safetensors file into the parameters, which every graph then sees, and returns the
// file's metadata. The file must hold exactly the parameters, each with its dtype and shape (half precision is widened
// to float32), and may hold their buffers (see layers.Params.Buffers), which are checked. The error lists all tensors
// that are missing, unknown, or of another dtype or shape; the parameters then stay unchanged. If WriteParams wrote the
// file and the file has been changed since, the error wraps ErrDamaged.
func ReadParams(path string, p *layers.Params) (metadata map[string]string, err error) {
	if err := checkParams(p); err != nil {
		return nil, err
	}
	f, err := readParams(path, p)
	if err != nil {
		return nil, fmt.Errorf("train: parameters: %w", err)
	}
	for name, value := range p.Own() {
		t, _ := f.Get(name)
		dense.SetSlice(value, t.Data)
	}
	return f.Metadata, nil
}

// readParams reads a file whose tensors are these parameters and their buffers.
func readParams(path string, p *layers.Params) (f *safetensors.File, err error) {
	r, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	besides := buffersIn(r, p)
	if err := checkFitting(r, path, bytesOf(p)+besides.bytes(), func() error {
		return dense.Compare(dense.Signatures("", p.Own()), besides.without(signaturesIn(r)))
	}); err != nil {
		return nil, err
	}
	if f, err = r.ReadAll(); err != nil {
		return nil, err
	}
	return f, besides.check(f, path)
}

// checkFitting returns an error for a file that is damaged, does not fit or has more than most bytes. A changed file
// may not fit, so its checksum is compared first. But a much larger file cannot have been right, and only its header is
// read.
func checkFitting(r *safetensors.Reader, path string, most int64, fits func() error) error {
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
	return nil
}

// bytesOf returns the memory of parameters.
func bytesOf(p *layers.Params) int64 { return int64(p.Count()) * int64(p.Dtype().Size()) }

// checkParams returns an error for parameters that were not made by layers.NewParams or a similar function.
func checkParams(p *layers.Params) error {
	if p == nil || p.Dtype() == (tensor.Dtype{}) {
		return errors.New("train: parameters: got nil or new(layers.Params), want what layers.NewParams returns")
	}
	return nil
}

// toFile returns tensors in the form of a file, sharing their memory.
func toFile(prefix string, tensors iter.Seq2[string, *tensor.Dense]) (all []safetensors.Tensor, err error) {
	for name, value := range tensors {
		if !dense.IsTensor(value) {
			return nil, fmt.Errorf("train: value of %.100q: got nil or the zero value, want a tensor", name)
		}
		if !dense.IsRowMajor(value) {
			return nil, fmt.Errorf("train: value of %s: got a view or a column-major tensor of shape %v, "+
				"want contiguous row-major data", name, value.Shape())
		}
		data := dense.Slice(value)
		if _, ok := data.([]int); ok { // the size of an int depends on the machine
			data = dense.Ints(value)
		}
		all = append(all, safetensors.Tensor{Name: prefix + name, Shape: value.Shape(), Data: data})
	}
	return all, nil
}

// signaturesIn returns the signatures of a file's tensors after reading.
func signaturesIn(r *safetensors.Reader) []dense.Signature {
	all := make([]dense.Signature, len(r.Tensors()))
	for i, t := range r.Tensors() {
		all[i] = dense.Signature{Name: t.Name,
			Form: fmt.Sprintf("%v %v", t.DType.Element(), tensor.Shape(t.Shape))}
	}
	return all
}
