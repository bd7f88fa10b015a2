package train

import (
	"fmt"
	"slices"
	"strings"

	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

// WriteParams writes parameters and metadata to a safetensors file, under the
// parameters' own names. The file is written beside path and then renamed, so
// that path never holds half of it.
func WriteParams(path string, p *layers.Params, metadata map[string]string) error {
	tensors, err := toFile("", namedParams(p))
	if err != nil {
		return err
	}
	if err := safetensors.WriteFile(path, &safetensors.File{Metadata: metadata, Tensors: tensors}); err != nil {
		return fmt.Errorf("train: parameters: %w", err)
	}
	return nil
}

// ReadParams copies the tensors of a safetensors file into the parameters, which
// every graph then sees, and returns the file's metadata. The file must hold just
// the parameters, each with its dtype and shape (half precision is widened to
// float32); what is missing, unknown or of another form is listed in the error,
// which leaves all parameters as they were.
func ReadParams(path string, p *layers.Params) (metadata map[string]string, err error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("train: parameters: %w", err)
	}
	have := namedParams(p)
	if err := compareForms(formsOf("", have), formsInFile(f)); err != nil {
		return nil, fmt.Errorf("train: parameters: %s: %w", path, err)
	}
	fromFile(f, "", have)
	return f.Metadata, nil
}

// ReadCheckpoint copies the parameters that Loop.Save wrote to a file into those given,
// as for a look at a run that goes on, and returns the number of steps it had taken. A
// file that was cut short or changed by as much as a bit is an error that wraps
// ErrDamaged; any error leaves the parameters as they were.
func ReadCheckpoint(path string, p *layers.Params) (steps int, err error) {
	f, err := readSealed(path)
	if err != nil {
		return 0, fmt.Errorf("train: checkpoint: %w", err)
	}
	c, err := readCheckpointMetadata(f.Metadata)
	if err != nil {
		return 0, fmt.Errorf("train: checkpoint: %s: %w", path, err)
	}
	have := namedParams(p)
	saved := slices.DeleteFunc(formsInFile(f), func(f form) bool { return strings.HasPrefix(f.name, solverPrefix) })
	if err := compareForms(formsOf(paramPrefix, have), saved); err != nil {
		return 0, fmt.Errorf("train: checkpoint: %s: %w", path, err)
	}
	fromFile(f, paramPrefix, have)
	return c.step, nil
}

func namedParams(p *layers.Params) []NamedTensor {
	named := make([]NamedTensor, 0, p.Len())
	for name, value := range p.All() {
		named = append(named, NamedTensor{name, value})
	}
	return named
}

// toFile are tensors as a file holds them, sharing their memory.
func toFile(prefix string, named []NamedTensor) ([]safetensors.Tensor, error) {
	tensors := make([]safetensors.Tensor, len(named))
	for i, n := range named {
		if err := checkLayout("value of "+n.Name, n.Value); err != nil {
			return nil, err
		}
		tensors[i] = safetensors.Tensor{Name: prefix + n.Name, Shape: n.Value.Shape(), Data: data(n.Value)}
	}
	return tensors, nil
}

// formsInFile are the forms of a file's tensors as they were read.
func formsInFile(f *safetensors.File) []form {
	forms := make([]form, len(f.Tensors))
	for i, t := range f.Tensors {
		element := fmt.Sprintf("%T", t.Data)[len("[]"):]
		forms[i] = form{t.Name, fmt.Sprintf("%s %v", element, tensor.Shape(t.Shape))}
	}
	return forms
}

// fromFile overwrites tensors of forms that the file was found to have.
func fromFile(f *safetensors.File, prefix string, named []NamedTensor) {
	for _, n := range named {
		t, _ := f.Get(prefix + n.Name)
		copyData(n.Value, t.Data)
	}
}
