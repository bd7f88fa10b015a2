package checkpoint_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"
	"attention/train/checkpoint"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// withContext returns a preset of the chapter with a context length.
func withContext(c layers.AttentionConfig, length int) layers.AttentionConfig {
	c.ContextLength = length
	return c
}

// The book's classes in PyTorch load our state with strict=True and compute the same; the file that they save can be
// loaded into the layer and its Params.
func TestBuffersOfPyTorch(t *testing.T) {
	rows := []struct {
		class  string
		config string
		layer  layers.AttentionConfig
		layout layers.Layout
	}{
		{"causal", `{"embed_dim": 5, "out_dim": 6, "context_length": 4}`, chapter.Causal(5, 6), layers.Book},
		{"multi_head_wrapper", `{"embed_dim": 5, "out_dim": 6, "context_length": 4, "num_heads": 3}`,
			chapter.MultiHeadWrapper(5, 6, 3), layers.PerHead},
		{"multi_head", `{"embed_dim": 5, "out_dim": 6, "context_length": 4, "num_heads": 3}`, chapter.MultiHead(5, 6, 3),
			layers.Book},
	}
	x := tensor.New(tensor.WithShape(1, 4, 5), tensor.WithBacking(tensor.Random(tensor.Float64, 20)))
	params, states, arguments := make([]*layers.Params, len(rows)), make([]map[string]*tensor.Dense, len(rows)), []string{}
	dir := t.TempDir()
	out := func(class string) string { return filepath.Join(dir, class+"-out") }
	for i, row := range rows {
		params[i] = layers.NewParams(tensor.Float64, 7)
		states[i] = must(must(layers.NewAttention(params[i].Scope(""), withContext(row.layer, 4))).State(row.layout))
		in, sent := filepath.Join(dir, row.class), maps.Clone(states[i])
		sent["x"] = x
		require.NoError(t, checkpoint.WriteTensors(in, sent, nil))
		arguments = append(arguments, row.class, row.config, in, out(row.class))
	}
	golden.Python(t, "book_read.py", arguments...) // only once: PyTorch takes seconds to start
	for i, row := range rows {
		t.Run(row.class, func(t *testing.T) {
			got, _, err := checkpoint.ReadTensors(out(row.class))
			require.NoError(t, err)
			want := got["output"]
			delete(got, "output")
			require.Equal(t, states[i], got)
			q := layers.NewBlankParams(tensor.Float64)
			m := must(layers.NewAttention(q.Scope(""), withContext(row.layer, 4)))
			require.NoError(t, m.SetState(row.layout, got))
			require.Equal(t, maps.Collect(params[i].All()), maps.Collect(q.All()))
			require.NoError(t, checkpoint.WriteTensors(out(row.class), got, nil))
			q = layers.NewBlankParams(tensor.Float64)
			m, err = layers.NewAttention(q.Scope(""), withContext(row.layer, 0)) // any length
			require.NoError(t, err)
			must(checkpoint.ReadParams(out(row.class), q))

			b := layers.NewBuild(q, layers.Eval)
			input := b.Input("x", 1, 4, 5)
			y := b.Of(m.Forward(b, input))
			require.NoError(t, b.Err())
			require.NoError(t, gorgonia.Let(input, x))
			require.NoError(t, must(machine.New(y)).RunAll())
			golden.Close(t, "output", want.Float64s(), y.Value().Data().([]float64), 1e-12, 1e-12)
		})
	}
}

// ReadParams accepts the buffers of the parameters' classes. Its error about a buffer that hides other keys names the
// buffer.
func TestReadParamsChecksBuffers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	for _, row := range []struct {
		length  int
		mask    any
		shape   []int
		name    string
		wantErr string
	}{
		{length: 2, name: "attn.mask", shape: []int{2, 2}, mask: []bool{false, true, false, false}},
		{length: 0, name: "attn.mask", shape: []int{2, 2}, mask: []int64{0, 1, 0, 0}},
		{length: 2, name: "attn.mask", shape: []int{2, 2}, mask: []uint8{0, 0, 0, 0},
			wantErr: `tensor "attn.mask": got 0 at (0, 1), want 1: the causal mask is 1 above the diagonal, ` +
				"where keys are hidden, and 0 elsewhere"},
		{length: 3, name: "attn.mask", shape: []int{2, 2}, mask: []float32{0, 1, 0, 0},
			wantErr: `tensor "attn.mask": shape (2, 2), want (3, 3): the causal mask of the context length`},
		{length: 2, name: "mask", shape: []int{2, 2}, mask: []float32{0, 1, 0, 0}, wantErr: "unknown mask"},
	} {
		p := layers.NewParams(tensor.Float32, 1)
		must(layers.NewAttention(p.Scope("attn"), withContext(chapter.Causal(3, 2), row.length)))
		state := maps.Collect(p.All())
		state[row.name] = tensor.New(tensor.WithShape(row.shape...), tensor.WithBacking(row.mask))
		require.NoError(t, checkpoint.WriteTensors(path, state, nil))
		q := layers.NewBlankParams(tensor.Float32)
		must(layers.NewAttention(q.Scope("attn"), withContext(chapter.Causal(3, 2), row.length)))
		blank := must(json.Marshal(maps.Collect(q.All())))
		_, err := checkpoint.ReadParams(path, q)
		if row.wantErr == "" {
			require.NoError(t, err)
			require.Equal(t, maps.Collect(p.All()), maps.Collect(q.All()))
			continue
		}
		require.ErrorContains(t, err, row.wantErr)
		require.Equal(t, blank, must(json.Marshal(maps.Collect(q.All()))), "parameters changed")
	}
}
