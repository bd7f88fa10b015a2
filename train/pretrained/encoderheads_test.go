package pretrained_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// headCases are the folders in testdata/encoders that have a head, and the functions that open them.
var headCases = map[string]func(string) (*pretrained.Encoder, error){
	"bert_class": pretrained.OpenEncoderClassifier, "distilbert_class": pretrained.OpenEncoderClassifier,
	"bert_head": pretrained.OpenMaskedLM, "distilbert_mask": pretrained.OpenMaskedLM,
	"bert_tags": pretrained.OpenTokenClassifier, "distilbert_tags": pretrained.OpenTokenClassifier,
	"bert_pair": pretrained.OpenCrossEncoder, "distilbert_pair": pretrained.OpenCrossEncoder,
}

// logitsOf returns the scores of an encoder's head.
func logitsOf(t *testing.T, e *pretrained.Encoder, b *layers.Build, in layers.EncoderInput) *G.Node {
	var x *G.Node
	var err error
	switch {
	case e.Classifier != nil:
		x, err = e.Classifier.Forward(b, in)
	case e.Tokens != nil:
		x, err = e.Tokens.Forward(b, in)
	default:
		x, err = e.MaskedLM.Forward(b, in)
	}
	require.NoError(t, err)
	return x
}

// inType returns an encoder whose parameters have another type.
func inType(t *testing.T, e *pretrained.Encoder, dt tensor.Dtype, family string) *pretrained.Encoder {
	p := layers.NewBlankParams(dt)
	m, err := layers.NewEncoder(p.Scope(""), e.Model.Config())
	require.NoError(t, err)
	as := &pretrained.Encoder{Model: m, Params: p}
	switch {
	case e.Tokens != nil:
		as.Tokens, err = layers.NewTokenClassifier(m, layers.TokenClassifierConfig{NumLabels: len(e.Labels)}, 0)
	case e.Classifier != nil:
		a := map[string]layers.Activation{"bert": layers.Tanh, "distilbert": layers.ReLU}[family]
		as.Classifier, err = layers.NewEncoderClassifier(m,
			layers.EncoderClassifierConfig{NumLabels: len(e.Labels), Activation: a}, 0)
	default:
		as.MaskedLM, err = layers.NewMaskedLM(m, 0)
	}
	require.NoError(t, err)
	for key, v := range e.Params.All() {
		require.NoError(t, p.Set(key, golden.Dense(dt, golden.Floats(t, v), v.Shape()...)))
	}
	return as
}

// Heads have the logits, the loss and the gradients of all weights of transformers, with padding and types of tokens.
// The loss of masked tokens reads their rows alone.
func TestEncoderHeads(t *testing.T) {
	for name, open := range headCases {
		for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-10, tensor.Float32: 1e-5} {
			t.Run(name+" "+dt.String(), func(t *testing.T) {
				f := golden.Load(t, "encoders/"+name+"/head.safetensors")
				e, err := open(encoderFolder(t, name))
				require.NoError(t, err)
				family := strings.Split(name, "_")[0]
				e = inType(t, e, dt, family)
				b := layers.NewBuild(e.Params, layers.Eval)
				integers := func(key string, data []int64, shape ...int) *G.Node {
					n := b.InputOf(tensor.Int64, key, shape...)
					require.NoError(t, b.Err())
					require.NoError(t, G.Let(n, tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))))
					return n
				}
				in := layers.EncoderInput{IDs: integers("ids", f.Int64("ids"), f.Shape("ids")...),
					Lengths: integers("lengths", f.Int64("lengths"), 3)}
				if family == "bert" {
					in.Types = integers("types", f.Int64("types"), f.Shape("types")...)
				}
				logits := logitsOf(t, e, b, in)
				var loss *G.Node
				switch {
				case strings.HasSuffix(name, "_pair"):
					targets := b.Input("labels", 3, 1)
					require.NoError(t, G.Let(targets, golden.Dense(dt, f.Float64("labels"), 3, 1)))
					loss, err = e.Classifier.Loss(b, in, targets)
				case e.Classifier != nil:
					loss, err = e.Classifier.Loss(b, in, integers("labels", f.Int64("labels"), 3))
				default:
					var places, targets []int64
					for i, id := range f.Int64("labels") {
						if id >= 0 {
							places, targets = append(places, int64(i)), append(targets, id)
						}
					}
					rows, labels := integers("rows", places, len(places)), integers("targets", targets, len(places))
					if e.Tokens != nil {
						loss, err = e.Tokens.Loss(b, in, rows, labels)
					} else {
						loss, err = e.MaskedLM.Loss(b, in, rows, labels)
					}
				}
				require.NoError(t, err)
				grads, err := G.Grad(loss, b.Learnables()...)
				require.NoError(t, err)
				run, err := machine.New(append(grads, loss, logits)...)
				require.NoError(t, err)
				require.NoError(t, run.RunAll())
				golden.Close(t, "loss", f.Float64("loss"), []float64{scalar(loss)}, tolerance, tolerance)
				got := golden.Floats(t, logits.Value())
				if shape := f.Shape("logits"); len(shape) == 3 { // padding means nothing
					for i, n := range f.Int64("lengths") {
						clear(got[(i*shape[1]+int(n))*shape[2] : (i+1)*shape[1]*shape[2]])
					}
				}
				golden.Close(t, "logits", f.Float64("logits"), got, tolerance, tolerance)
				others := 6
				if e.Classifier != nil {
					others++ // text
				}
				require.Len(t, f.Names(), len(grads)+others, "a gradient for each weight")
				for i, n := range b.Learnables() {
					key := pretrained.NameInFolder(family, n.Name())
					if strings.Contains(n.Name(), "layer.") || strings.Contains(n.Name(), "embeddings.") ||
						strings.HasPrefix(key, "pooler.") {
						key = family + "." + key
					}
					golden.Close(t, key, f.Float64("grad."+key), golden.Floats(t, grads[i].Value()), tolerance, tolerance)
				}
			})
		}
	}
}

// A folder with a head has the labels of its config.json, or transformers' own, and goes out byte for byte.
func TestEncoderHeadsGoOut(t *testing.T) {
	labels := map[string][]string{"bert_class": {"bad", "good", "so so"}, "distilbert_class": {"LABEL_0", "LABEL_1"},
		"bert_tags": {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}, "distilbert_tags": {"LABEL_0", "LABEL_1", "LABEL_2"},
		"bert_pair": {"LABEL_0"}, "distilbert_pair": {"LABEL_0"}}
	for name, open := range headCases {
		e, err := open(encoderFolder(t, name))
		require.NoError(t, err)
		require.Equal(t, labels[name], e.Labels)
		goesOut(t, encoderFolder(t, name), open)
		dir := encoderFolder(t, name) // with tied weights, which older versions wrote
		at := filepath.Join(dir, "model.safetensors")
		f, err := safetensors.ReadFile(at)
		require.NoError(t, err)
		for _, x := range f.Tensors {
			switch {
			case strings.HasSuffix(x.Name, "word_embeddings.weight") && name == "distilbert_mask":
				x.Name = "vocab_projector.weight"
			case strings.HasSuffix(x.Name, "word_embeddings.weight"):
				x.Name = "cls.predictions.decoder.weight"
			case x.Name == "cls.predictions.bias":
				x.Name = "cls.predictions.decoder.bias"
			default:
				continue
			}
			f.Tensors = append(f.Tensors, x)
		}
		require.NoError(t, safetensors.WriteFile(at, f))
		goesOut(t, dir, open)
		e, err = open(dir)
		require.NoError(t, err)
		before, to := byName(tensorsIn(t, dir)), t.TempDir()
		for key, v := range e.Params.All() {
			v.Float64s()[0]++
			require.NoError(t, e.Params.Keep(key, v))
		}
		_, err = e.Write(to)
		require.NoError(t, err)
		for key, data := range byName(tensorsIn(t, to)) {
			isLeft := e.MaskedLM == nil && (strings.Contains(key, "decoder") || key == "vocab_projector.weight")
			require.Equal(t, isLeft, data[0] == before[key][0], key)
		}
	}
}

// New heads go out in folders of transformers, which compute the same logits where there is a Python with it.
func TestNewEncoderHeads(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.safetensors")
	args, want := []string{out, "2,100,7,31,3", ""}, map[string][]float64{}
	for _, name := range encoderCases {
		for kind, add := range map[string]func(e *pretrained.Encoder) error{
			"class": func(e *pretrained.Encoder) error { return e.AddClassifier([]string{"a", "b", "so so"}, 7) },
			"mask":  func(e *pretrained.Encoder) error { return e.AddMaskedLM(7) },
			"tags":  func(e *pretrained.Encoder) error { return e.AddTokenClassifier([]string{"O", "B-a", "I-a"}, 7) },
			"pair":  func(e *pretrained.Encoder) error { return e.AddCrossEncoder(7) },
		} {
			from, to := encoderFolder(t, name), t.TempDir()
			e, err := pretrained.OpenEncoder(from)
			require.NoError(t, err)
			require.NoError(t, add(e))
			_, err = e.Write(to)
			require.NoError(t, err)
			open := map[string]func(string) (*pretrained.Encoder, error){"class": pretrained.OpenEncoderClassifier,
				"mask": pretrained.OpenMaskedLM, "tags": pretrained.OpenTokenClassifier,
				"pair": pretrained.OpenCrossEncoder}[kind]
			again, err := open(to)
			require.NoError(t, err)
			require.Equal(t, e.Labels, again.Labels)
			same(t, e.Params, again.Params)
			b := layers.NewBuild(again.Params, layers.Eval)
			ids := b.InputOf(tensor.Int64, "ids", 5)
			require.NoError(t, G.Let(ids, tensor.New(tensor.WithShape(5), tensor.WithBacking([]int64{2, 100, 7, 31, 3}))))
			x := logitsOf(t, again, b, layers.EncoderInput{IDs: ids})
			run, err := machine.New(x)
			require.NoError(t, err)
			require.NoError(t, run.RunAll())
			want[strconv.Itoa(len(want))] = golden.Floats(t, x.Value())
			args = append(args, to)
			if pooler, ok := byName(tensorsIn(t, from))["pooler.dense.weight"]; ok && (kind == "class" || kind == "pair") {
				v, _ := e.Params.Get("pooler.dense.weight")
				require.Equal(t, pooler, golden.Floats(t, v), "the pooler of the folder")
			}
			for key, v := range again.Params.All() {
				data := golden.Floats(t, v)
				switch {
				case strings.HasPrefix(key, "embeddings."), strings.HasPrefix(key, "encoder."), key == "pooler.dense.bias":
				case strings.HasSuffix(key, "LayerNorm.weight"):
					require.Equal(t, 1.0, data[0])
				case strings.HasSuffix(key, ".bias"):
					require.Zero(t, data[0], key)
				default:
					require.NotZero(t, data[0], key)
				}
			}
		}
	}
	if testing.Short() {
		t.Skip("loading PyTorch takes seconds")
	}
	golden.Python(t, "encoder_read.py", args...)
	f, err := safetensors.ReadFile(out)
	require.NoError(t, err)
	require.Len(t, f.Tensors, len(want))
	for _, x := range f.Tensors {
		golden.Close(t, x.Name, safetensors.Floats[float64](x.Data), want[x.Name], 1e-10, 1e-10)
	}
}
