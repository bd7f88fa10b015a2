package pretrained

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"
)

// encoderOrigin is the folder that an encoder was read from.
type encoderOrigin struct {
	dir      string // "" if the encoder was not read from a folder
	family   *encoderFamily
	config   []byte // of config.json
	sentence Sentence
	modules  []string // the folders of sentence-transformers' modules in dir
	head     *head    // of the encoder; nil without one
	isNew    bool     // the folder does not have the head
}

// Write writes an encoder that OpenEncoder read to a folder, which must be new or empty, and returns the names of the
// files it made. transformers and sentence-transformers read it like the original folder, which must still exist.
//
// Weights keep their files, names and types. Weights that were not trained, heads, config.json and the files of the
// tokenizer and of sentence-transformers are copied bit for bit. Adapters are merged into their weights.
func (e *Encoder) Write(dir string) ([]string, error) {
	files, err := e.write(dir)
	if err != nil {
		return nil, about(dir, err)
	}
	return files, nil
}

func (e *Encoder) write(dir string) ([]string, error) {
	o := e.origin
	switch {
	case o.dir == "" || e.Params == nil:
		return nil, errors.New("got an encoder that was not read from a folder, want one of OpenEncoder")
	case e.Sentence != o.sentence:
		return nil, fmt.Errorf("sentence: got %+v, want %+v as in %s", e.Sentence, o.sentence, o.dir)
	}
	w, err := o.family.open(o.dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.dir, err)
	}
	defer w.close()
	contents, copied := o.config, o.copied()
	out := &writing{}
	if o.isNew {
		if contents, err = e.newConfig(); err != nil {
			return nil, err
		}
		if err := out.addWeights(e.newWeights(w), 5e9); err != nil {
			return nil, err
		}
		copied = slices.DeleteFunc(copied, func(name string) bool { return name == indexName })
	} else if err := e.addFiles(out, w); err != nil {
		return nil, fmt.Errorf("%s: %w", o.dir, err)
	}
	for _, name := range copied {
		out.files = append(out.files, file{name, copyOf(o.dir, name)})
	}
	out.add(configName, contents)
	return out.into(dir, context.Background())
}

// addFiles adds the files of weights that the encoder came with.
func (e *Encoder) addFiles(out *writing, w *weights) error {
	if err := w.checkEncoder(e.Params, e.origin.family); err != nil {
		return err
	}
	names, err := weightFiles(e.origin.dir)
	if err != nil {
		return err
	}
	for i, r := range w.readers {
		out.files = append(out.files, file{names[i], weightsFile(r.Metadata(), e.tensors(r, w))})
	}
	return nil
}

// copied returns the names of the other files, which are copied unchanged.
func (o encoderOrigin) copied() []string {
	names := slices.Concat(copiedNames, []string{"vocab.txt", indexName, modulesName, sentenceName,
		crossName})
	for _, in := range o.modules {
		names = append(names, filepath.Join(in, configName))
	}
	return slices.DeleteFunc(names, func(name string) bool {
		_, err := os.Stat(filepath.Join(o.dir, name))
		return errors.Is(err, fs.ErrNotExist)
	})
}

// tensors returns the tensors of a file: the values of parameters, and the tensors of heads from the original file.
func (e *Encoder) tensors(r *safetensors.Reader, w *weights) []safetensors.Tensor {
	parameters := map[string]string{} // by tensor
	for name := range e.Params.Shapes() {
		parameters[w.tensors[e.origin.family.weights.place(name).name].Name] = name
	}
	if h := e.origin.head; h != nil {
		for name, of := range h.tied {
			parameters[w.tensors[name].Name] = of
		}
	}
	all := r.Tensors()
	for i := range all {
		t := &all[i]
		if name, ok := parameters[t.Name]; ok {
			t.Data = e.stream(name, t.DType)
			continue
		}
		t.Data = safetensors.Stream{DType: t.DType, Each: func(write func(any) error) error {
			head, err := r.Read(t.Name)
			if err != nil {
				return err
			}
			return write(head.Data)
		}}
	}
	return all
}

// stream returns the elements of a parameter in a type.
func (e *Encoder) stream(name string, d safetensors.DType) safetensors.Stream {
	return dense.ByType(e.Params.Dtype(), streamOf[float32], streamOf[float64])(e.Params, name, d)
}

func streamOf[F float32 | float64](p *layers.Params, name string, d safetensors.DType) safetensors.Stream {
	data := func() []F { return merged[F](p, name) }
	shape, _ := p.Get(name)
	return stream(d, shape.Shape().TotalSize(), []func() []F{data})
}
