package pretrained

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

const indexName = "model.safetensors.index.json"

// weights holds the tensors of a folder by their names in the family.
type weights struct {
	names   names
	readers []*safetensors.Reader
	tensors map[string]stored
}

// stored is a tensor in a file.
type stored struct {
	safetensors.Tensor // its header without the data, under its own name
	file               *safetensors.Reader
}

// openWeights opens all files of a folder.
func openWeights(dir string, n names) (*weights, error) {
	names, err := weightFiles(dir)
	if err != nil {
		return nil, err
	}
	w := &weights{names: n, tensors: map[string]stored{}}
	for _, name := range names {
		err := w.open(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("%s: got the file %q, which is missing: %w", indexName, name, err)
		}
		if err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// open opens a file and adds its tensors.
func (w *weights) open(path string) error {
	r, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	w.readers = append(w.readers, r)
	return w.add(r)
}

func (w *weights) close() {
	for _, r := range w.readers {
		_ = r.Close() // nothing was written
	}
}

// weightFiles returns the names of the files: one, or all files that an index names.
func weightFiles(dir string) ([]string, error) {
	_, err := os.Stat(filepath.Join(dir, weightsName))
	if !errors.Is(err, os.ErrNotExist) {
		return []string{weightsName}, err
	}
	text, err := folder.ReadFile(filepath.Join(dir, indexName), folder.MaxIndex)
	if errors.Is(err, os.ErrNotExist) {
		if old, _ := filepath.Glob(filepath.Join(dir, "pytorch_model*.bin")); len(old) > 0 {
			return nil, fmt.Errorf("got %s, which is not read, want %s: transformers' save_pretrained writes it",
				filepath.Base(old[0]), weightsName)
		}
		return nil, fmt.Errorf("holds neither %s nor %s, want one (transformers' save_pretrained writes them)",
			weightsName, indexName)
	}
	if err != nil {
		return nil, err
	}
	var index struct {
		Files map[string]string `json:"weight_map"`
	}
	if err := config.Foreign.Decode(text, &index); err != nil {
		return nil, fmt.Errorf("%s: %w", indexName, err)
	}
	names := slices.Compact(slices.Sorted(maps.Values(index.Files)))
	for _, name := range names {
		if !filepath.IsLocal(name) || filepath.Base(name) != name {
			return nil, fmt.Errorf("%s: got the file %.100q, want names of files beside it", indexName, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: weight_map: got no file, want at least one", indexName)
	}
	return names, nil
}

// add adds the tensors of a file.
func (w *weights) add(r *safetensors.Reader) error {
	for _, t := range r.Tensors() {
		name := w.names.canonical(t.Name)
		if buffer.MatchString(name) && !r.Sealed() { // except for copies in older files
			continue
		}
		if _, ok := w.tensors[name]; ok {
			return fmt.Errorf("tensor %.100q comes twice", name)
		}
		w.tensors[name] = stored{t, r}
	}
	return nil
}

// dtype returns the type of the model's parameters.
func (w *weights) dtype() tensor.Dtype {
	if w.tensors[w.names.tokens].DType == safetensors.F64 {
		return tensor.Float64
	}
	return tensor.Float32
}

// checkSize returns an error for a config of a much larger model than the files hold,
// before the model takes memory.
func (w *weights) checkSize(c layers.DecoderConfig) error {
	blocks, elements := map[string]bool{}, 0
	for name, t := range w.tensors {
		if m := layerName.FindStringSubmatch(name); m != nil {
			blocks[m[1]] = true
		}
		elements += tensor.Shape(t.Shape).TotalSize()
	}
	// If there is no block at all, the names belong to another model, and check reports this.
	if n := len(blocks); n != c.NumLayers && (n > 0 || c.NumLayers > len(w.tensors)) {
		return fmt.Errorf("weights: got %d blocks, want the %d of %s", len(blocks), c.NumLayers, configName)
	}
	const small = 1 << 20
	declared, err := layers.Declare(layers.NewDecoder, c)
	if err != nil {
		return fmt.Errorf("%s: %w", configName, err)
	}
	if want := declared.Count(); want/2 > max(elements, small) {
		return fmt.Errorf("weights: got %d numbers, want the %d of a model of %s", elements, want, configName)
	}
	return nil
}

// checkSeals returns an error for a file whose checksum shows that it was changed.
func (w *weights) checkSeals() error {
	for _, r := range w.readers {
		if err := r.CheckSeal(); err != nil {
			return err
		}
	}
	return nil
}

// check returns one error for all missing, unknown and wrong tensors.
func (w *weights) check(p *layers.Params, c folderConfig) error {
	var missing, wrong []string
	used := map[string]bool{}
	for name, shape := range p.Shapes() {
		at := c.place(name)
		t, ok := w.tensors[at.name]
		switch want := at.shape(shape); {
		case used[at.name]:
		case !ok:
			missing = append(missing, at.name)
		case !slices.Equal(t.Shape, want) || !isFloat(t.DType):
			wrong = append(wrong, fmt.Sprintf("%s is %s %v, want F32 %v", at.name, t.DType, tensor.Shape(t.Shape), want))
		}
		used[at.name] = true
	}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(w.tensors)) {
		t := w.tensors[name]
		switch {
		case used[name]:
		case !w.optional(name, c):
			unknown = append(unknown, fmt.Sprintf("%.100q", t.Name))
		case !w.fitsOptional(name):
			wrong = append(wrong, fmt.Sprintf("%.100q is %s %v, want none or F32 of its weights' width",
				t.Name, t.DType, tensor.Shape(t.Shape)))
		}
	}
	if err := dense.Mismatch(missing, unknown, wrong); err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	return nil
}

func isFloat(t safetensors.DType) bool {
	return t == safetensors.F64 || t == safetensors.F32 || t == safetensors.F16 || t == safetensors.BF16
}

// place returns the place of a parameter in a folder of the config's family and format.
func (c folderConfig) place(name string) place {
	at := c.family.weights.place(name)
	at.transposed = c.Format == Torch && isLinear(name)
	return at
}

// shape returns the shape of the tensor at a place that holds a parameter of the given shape, whole or as a part.
func (at place) shape(of tensor.Shape) tensor.Shape {
	shape := of.Clone()
	if at.transposed {
		slices.Reverse(shape)
	}
	if at.of > 0 {
		shape[0] *= at.of
	}
	return shape
}

// isLinear reports whether a parameter is the weight of a linear layer, which GPT-2
// stores as (in, out).
func isLinear(name string) bool {
	return strings.HasSuffix(name, ".c_attn.weight") || strings.HasSuffix(name, ".c_proj.weight") ||
		strings.HasSuffix(name, ".c_fc.weight")
}
