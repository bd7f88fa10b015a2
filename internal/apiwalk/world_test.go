package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/apply"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/encoders"
	"attention/train/loop"
	"attention/train/parallel"
	"attention/train/pretrained"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// world holds the objects that the arguments of one call share: a set of parameters and a build over it.
type world struct {
	params *layers.Params
	build  *layers.Build
	made   int // names given
}

func newWorld() *world {
	p := layers.NewParams(tensor.Float32, 1)
	return &world{params: p, build: layers.NewBuild(p, layers.Train)}
}

// must checks the error of a call that the walk needs.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func (w *world) name(prefix string) string {
	w.made++
	return fmt.Sprint(prefix, w.made)
}

func (w *world) scope() layers.Scope { return w.params.Scope(w.name("s")) }

func (w *world) linear() *layers.Linear {
	return must(layers.NewLinear(w.scope(), layers.LinearConfig{InFeatures: 2, OutFeatures: 2}))
}

// examples returns a file of one example.
func examples() *text.Examples {
	const path = "examples.jsonl"
	err := os.WriteFile(path, []byte(`{"text": "a"}`), 0o644)
	e, openErr := text.OpenExamples(path)
	if err := cmp.Or(err, openErr); err != nil {
		panic(err)
	}
	return e
}

func lessons() *text.Lessons {
	return must(text.NewLessons(context.Background(), text.LessonConfig{Tokenizer: gpt2, Ends: []int{0}}))
}

// node returns an input with a value.
func (w *world) node(dt tensor.Dtype, shape ...int) *G.Node {
	return withValue(w.build.InputOf(dt, w.name("x"), shape...))
}

func withValue(n *G.Node) *G.Node {
	var err error
	if n.IsScalar() {
		err = G.Let(n, reflect.New(n.Dtype().Type).Elem().Interface())
	} else {
		err = G.Let(n, ones(n.Dtype(), n.Shape()...))
	}
	if err != nil {
		panic(err)
	}
	return n
}

func ones(dt tensor.Dtype, shape ...int) *tensor.Dense { return tensor.Ones(dt, shape...) }

// loss returns the loss of a layer on an input "x" (2, 2).
func (w *world) loss() layers.Formula {
	l := w.linear()
	return func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(graph.MSE(b.Of(l.Forward(b, in["x"])), in["x"], graph.LossConfig{}))
	}
}

// step returns a step with that loss.
func (w *world) step() *train.Step {
	loss := w.loss()(w.build, w.build.InputsOf(batch().Inputs))[0]
	return must(train.NewStep(w.build, loss, train.StepConfig{Schedule: train.ConstantRate(0.5)}))
}

func batch() train.Batch {
	return train.Batch{Inputs: train.Values{"x": ones(tensor.Float32, 2, 2)}, Tokens: 4}
}

// source is a source of two batches for that loss.
type source struct{ taken byte }

func (s *source) Next() (train.Batch, error) {
	if s.taken == 2 {
		s.taken = 0
		return train.Batch{}, io.EOF
	}
	s.taken++
	return batch(), nil
}

func (s *source) State() []byte { return []byte{s.taken} }

func (s *source) SetState(state []byte) error {
	if len(state) != 1 || state[0] > 2 {
		return errors.New("got another state, want one of State")
	}
	s.taken = state[0]
	return nil
}

// ids are enough for a few windows.
func ids() []int {
	all := make([]int, 64)
	for i := range all {
		all[i] = i % 2
	}
	return all
}

var folders int // folders of checkpoints, each with its own lock

var gpt2 = text.NewGPT2Tokenizer() // once: it takes long

// valid makes values that are right in some calls, for types whose values neither numbers
// nor the rooms' own functions make.
var valid = map[reflect.Type][]func(w *world) any{
	reflect.TypeFor[*layers.Params](): {func(w *world) any { return w.params }},
	reflect.TypeFor[*layers.Build]():  {func(w *world) any { return w.build }},
	reflect.TypeFor[layers.Scope]():   {func(w *world) any { return w.scope() }},
	reflect.TypeFor[*machine.Arena](): {func(*world) any { return new(machine.Arena) }},
	reflect.TypeFor[layers.Formula](): {
		func(w *world) any { return w.loss() },
		func(*world) any {
			return layers.Formula(func(b *layers.Build, in layers.Inputs) []*G.Node { return []*G.Node{in["x"]} })
		},
	},
	reflect.TypeFor[*G.ExprGraph](): {func(w *world) any { return w.build.Graph() }},
	reflect.TypeFor[*apply.Layer](): {func(*world) any { return must(apply.Parse([]byte(`{"layer": "simple"}`))) }},
	reflect.TypeFor[*pretrained.Folder](): {func(w *world) any {
		return must(pretrained.Parse("nowhere", []byte(`{"model_type": "gpt2", "vocab_size": 2, "n_positions": 2,
			"n_embd": 2, "n_layer": 1, "n_head": 1}`)))
	}},
	reflect.TypeFor[*pretrained.Embedder](): {func(w *world) any { return must(w.encoder().Embedder()) }},
	reflect.TypeFor[*pretrained.Ranker](): {func(*world) any {
		return must(must(pretrained.OpenCrossEncoder(filepath.Join(encodersIn, "bert_pair"))).Ranker())
	}},
	reflect.TypeFor[*pretrained.Tagger](): {func(*world) any {
		return must(must(pretrained.OpenTokenClassifier(filepath.Join(encodersIn, "bert_tags"))).Tagger())
	}},
	reflect.TypeFor[*encoders.Batches](): {func(w *world) any {
		pairs := encoders.List{{Texts: []string{"a", "b"}}, {Texts: []string{"c", "d"}}}
		return must(encoders.NewBatches(context.Background(), w.encoder(), pairs, encoders.Config{Batch: 2}))
	}},
	reflect.TypeFor[*G.Node](): {
		func(w *world) any { return w.node(tensor.Float32, 2, 2, 2) },
		func(w *world) any { return w.node(tensor.Float32, 2, 2) },
		func(w *world) any { return w.node(tensor.Float32, 2) },
		func(w *world) any { return w.node(tensor.Float32) },
		func(w *world) any { return w.node(tensor.Int, 2, 2) },
		func(w *world) any { return w.node(tensor.Int64, 2) },
		func(w *world) any { return w.node(tensor.Int) },
		func(w *world) any { return w.node(tensor.Float64, 2, 2) },
		func(w *world) any { return w.node(tensor.Float32, 1, 3) },
		func(w *world) any { return w.node(tensor.Float32, 1, 2) },
		func(w *world) any { return w.node(tensor.Float32, 2, 2, 2, 2) },
		func(w *world) any {
			return withValue(G.NewMatrix(G.NewGraph(), tensor.Float32, G.WithShape(2, 2), G.WithName("far")))
		},
		func(w *world) any {
			return G.NewMatrix(w.build.Graph(), tensor.Float32, G.WithShape(2, 2), G.WithName("free"))
		},
		func(w *world) any { return G.NewConstant(1.0) },
	},
	reflect.TypeFor[tensor.Dtype](): {
		func(*world) any { return tensor.Float32 },
		func(*world) any { return tensor.Float64 },
		func(*world) any { return tensor.Int },
		func(*world) any { return tensor.String },
	},
	reflect.TypeFor[*tensor.Dense](): {
		func(*world) any { return ones(tensor.Float32, 2, 2) },
		func(*world) any { return ones(tensor.Int, 2) },
		func(*world) any { return ones(tensor.Float64, 2, 2) },
		func(*world) any { return tensor.New(tensor.FromScalar(float32(1))) },
	},
	reflect.TypeFor[layers.AttentionInput](): {func(w *world) any {
		return layers.AttentionInput{Query: w.node(tensor.Float32, 2, 2, 2)}
	}},
	reflect.TypeFor[*parallel.Group](): {func(*world) any { return must(parallel.NewLocal(1))[0] }},
	reflect.TypeFor[context.Context](): {
		func(*world) any { return context.Background() },
		func(*world) any {
			done, cancel := context.WithCancel(context.Background())
			cancel()
			return done
		},
	},
	reflect.TypeFor[[]int]():                  {func(*world) any { return ids() }},
	reflect.TypeFor[*text.SubwordTokenizer](): {func(*world) any { return gpt2 }},
	reflect.TypeFor[*text.Examples]():         {func(*world) any { return examples() }},
	reflect.TypeFor[*text.Lessons]():          {func(*world) any { return lessons() }},
	reflect.TypeFor[*text.Packed](): {func(*world) any {
		return must(text.NewPacked(context.Background(), examples(), lessons(), text.PackConfig{Batch: 1, Context: 8}))
	}},
	reflect.TypeFor[*train.Step](): {func(w *world) any { return w.step() }},
	reflect.TypeFor[*train.Solver](): {func(*world) any {
		return must(train.SolverConfig{}.New([]train.Param{{Name: "p", Value: ones(tensor.Float32, 2, 2)}}))
	}},
	reflect.TypeFor[*checkpoint.Folder](): {func(w *world) any {
		folders++
		return must(checkpoint.Open(fmt.Sprint("checkpoints", folders), checkpoint.Config{}))
	}},
	reflect.TypeFor[chapter.Section]():       {func(*world) any { return chapter.Sections()[0] }},
	reflect.TypeFor[*layers.AttentionCall](): {func(w *world) any { return w.call() }},
	reflect.TypeFor[*layers.LinearCall](): {func(w *world) any {
		l := must(layers.NewLinearAttention(w.scope(), layers.LinearAttentionConfig{EmbedDim: 2, NumHeads: 1}))
		w.build.Of(l.Forward(w.build, w.node(tensor.Float32, 2, 2)))
		return w.build.LinearCalls("*")[0]
	}},
	reflect.TypeFor[train.Source]():    {func(*world) any { return new(source) }},
	reflect.TypeFor[train.Resumable](): {func(*world) any { return new(source) }},
	reflect.TypeFor[train.Values]():    {func(*world) any { return train.Values{"x": ones(tensor.Float32, 2, 2)} }},
	reflect.TypeFor[train.Batch]():     {func(*world) any { return batch() }},
	reflect.TypeFor[train.StepConfig](): {func(*world) any {
		return train.StepConfig{Schedule: train.ConstantRate(0.5)}
	}},
	reflect.TypeFor[loop.Config](): {func(*world) any {
		return loop.Config{Steps: 2, StepConfig: train.StepConfig{Schedule: train.ConstantRate(0.5)}}
	}},
	reflect.TypeFor[train.Param](): {func(*world) any {
		return train.Param{Name: "p", Value: ones(tensor.Float32, 2, 2), Grad: ones(tensor.Float32, 2, 2)}
	}},
	reflect.TypeFor[layers.DecoderBlockConfig](): {func(*world) any {
		return layers.DecoderBlockConfig{Block: layers.BlockConfig{Attention: chapter.MultiHead(2, 2, 2)}}
	}},
	reflect.TypeFor[chapter.Config](): {func(*world) any {
		return chapter.Config{Layer: "causal", EmbedDim: 2, OutDim: 2}
	}},
	reflect.TypeFor[chapter.LanguageModelConfig](): {func(*world) any {
		return chapter.LanguageModelConfig{VocabSize: 2, ContextLength: 2, EmbedDim: 2,
			Attention: chapter.Config{Layer: "causal", EmbedDim: 2, OutDim: 2}}
	}},
	reflect.TypeFor[train.Schedule](): {func(*world) any { return train.ConstantRate(0.5).Schedule }},
	reflect.TypeFor[func(layers.Scope, layers.LinearConfig) (*layers.Linear, error)](): {func(*world) any {
		return layers.NewLinear
	}},
	reflect.TypeFor[[]byte](): {
		func(*world) any { return []byte(`{}`) },
		func(*world) any { return []byte(`matrices`) },
		func(*world) any { return []byte(`lower_right`) },
		func(*world) any { return []byte(`linear`) },
		func(*world) any { return []byte(`{"type":"constant","rate":1}`) },
		func(*world) any { return []byte(`{"tokenizer":"characters","characters":"ab"}`) },
		func(*world) any { return []byte(`{"type":"not","of":{"type":"causal"}}`) },
		func(*world) any { return []byte(`null`) },
		func(*world) any { return []byte(`"x"`) },
	},
	reflect.TypeFor[mask.Mask](): {func(*world) any { return mask.Causal{} }},
}

// call returns a call of an attention.
func (w *world) call() *layers.AttentionCall {
	l := must(layers.NewAttention(w.scope(), chapter.SelfV2(2, 2)))
	w.build.Of(l.Forward(w.build, w.node(tensor.Float32, 2, 2)))
	return w.build.Calls("*")[0]
}

// encodersIn is the folder of small encoders. It is found before the test changes the current folder.
var encodersIn = must(golden.Path("encoders", "."))

// encoder returns a small encoder with a tokenizer.
func (w *world) encoder() *pretrained.Encoder {
	m := must(layers.NewEncoder(w.scope(), layers.EncoderConfig{VocabSize: gpt2.Len(), ContextLength: 2, NumLayers: 1,
		Block: layers.BlockConfig{Attention: chapter.MultiHead(2, 2, 2)}}))
	return &pretrained.Encoder{Model: m, Params: w.params, Tokenizer: gpt2,
		Sentence: pretrained.Sentence{Pooling: layers.MeanPooling, MaxLength: 2}}
}
