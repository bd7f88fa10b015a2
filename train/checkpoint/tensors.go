package checkpoint

import (
	"fmt"
	"maps"
	"slices"

	"attention/internal/oneline"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// ReadTensor returns one tensor of a safetensors file, for example of a state dict from PyTorch, a file of WriteParams,
// or a checkpoint, in which the names of parameters begin with "params.". ReadTensor reads no other tensor. The dtype
// is the file's, except that half precision (F16, BF16) becomes float32, which represents it exactly. A tensor without
// axes is a scalar. The error for an unknown name lists names that the file has.
func ReadTensor(path, name string) (*tensor.Dense, error) {
	r, err := safetensors.Open(path)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	var value *tensor.Dense
	t, err := r.Read(name)
	if err == nil {
		value, err = fromTensor(t)
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

// WriteTensors writes tensors by their names, and metadata, which may be nil, to a safetensors file
// (safetensors.torch.save_file). The tensors hold floats, integers or bools and are row-major; an int is written as an
// int64. Equal maps give equal bytes. The file is written beside path and then renamed, so that path never holds an
// incomplete file.
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
