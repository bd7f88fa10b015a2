package pretrained

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"gorgonia.org/tensor"
)

// ggufModel is a model in the form that it has in a file.
type ggufModel struct {
	ggufForm
	layers.DecoderConfig // resolved
	family               *family
	kind                 layers.BlockConfig      // one layer's
	context              int                     // the longest sequence that all layers see completely
	global, local        *graph.RoPEConfig       // of layers without window and with one; nil means none
	window               int                     // keys that a layer sees; 0 means all
	period               int                     // n if every n-th layer has no window
	shapes               map[string]tensor.Shape // of the parameters
}

// ggufModelOf returns the form of a model: that of the family it was read from, or else the first one that fits.
func ggufModelOf(c layers.DecoderConfig, from *origin) (*ggufModel, error) {
	all := families
	if from != nil {
		all = append([]*family{from.family}, all...)
	}
	c = c.Resolved()
	b := c.Block(0)
	parallel := b.Parallel
	b.Parallel = false // a setting contains it
	var reason error
	for _, f := range all {
		if c.Layout != f.layout() || parallel && f != &gptNeoX ||
			!reflect.DeepEqual(blockKind(b), blockKind(f.block)) {
			continue
		}
		m := &ggufModel{ggufForm: f.gguf, DecoderConfig: c, family: f, kind: c.Block(0), context: c.ContextLength}
		err := m.check()
		if err == nil {
			return m, nil
		}
		reason = cmp.Or(reason, fmt.Errorf("llama.cpp's form %s: %w", f.gguf.name, err))
	}
	if reason != nil {
		return nil, reason
	}
	kind := blockKind(c.Block(0))
	kind.Attention.EmbedDim, kind.Attention.NumHeads = c.Block(0).Attention.EmbedDim, c.Block(0).Attention.NumHeads
	text, err := json.Marshal(kind)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("llama.cpp has no form for blocks of %s, but those of %s", text, familyNames())
}

// layout returns the layout of the family's parameters.
func (f *family) layout() layers.Layout {
	if f == &gpt2 {
		return layers.GPT2
	}
	return layers.Llama
}

// check returns an error for a property that the form cannot represent.
func (m *ggufModel) check() error {
	b, e := m.kind, m.kind.Attention.EmbedDim
	scale, last := m.EmbeddingScale, m.Norm
	last.Bias = b.Norm.Bias // the file has zeros for biases that the model does not have
	switch {
	case m.LearnedPositions != (m.family == &gpt2):
		return fmt.Errorf("learned positions: got %v, want %v", m.LearnedPositions, !m.LearnedPositions)
	case m.skips > m.NumLayers:
		return fmt.Errorf("layers: got %d, want at least %d, the last of which has no positions", m.NumLayers, m.skips)
	case m.LogitScale != 1:
		return fmt.Errorf("scale of the logits: got %v, want 1", m.LogitScale)
	case !m.family.scaled && scale != 1:
		return fmt.Errorf("scale of the embeddings: got %v, want 1", scale)
	case m.family.scaled && math.Abs(scale-math.Sqrt(float64(e))) > 0x1p-8*scale: // bfloat16's rounding
		return fmt.Errorf("scale of the embeddings: got %v, want √%d", scale, e)
	case m.capped != (m.LogitSoftcap > 0) || m.capped != (b.Attention.Softcap > 0):
		return fmt.Errorf("caps of scores and logits: got %v and %v, want both in gemma2 and none elsewhere",
			b.Attention.Softcap, m.LogitSoftcap)
	case last != b.Norm:
		return fmt.Errorf("last norm: got %+v, want that of the blocks", m.Norm)
	}
	if err := m.checkHeads(); err != nil {
		return err
	}
	for i := range m.NumLayers {
		if err := m.checkLayer(i); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return m.checkRoPE(m.global)
}

// checkHeads checks the widths, scale and norms of heads and the biases.
func (m *ggufModel) checkHeads() error {
	a, d := m.kind.Attention, m.kind.Attention.HeadDim
	scale := 1 / math.Sqrt(float64(d))
	if m.wide == m.NumLayers {
		scale = 1 / math.Sqrt(float64(a.EmbedDim)/float64(a.NumHeads))
	}
	switch {
	case m.narrow && d*a.NumHeads != a.EmbedDim:
		return fmt.Errorf("heads: got %d of width %d, want the width E=%d in all", a.NumHeads, d, a.EmbedDim)
	case a.QKNorm != "" && a.QKNormEps != m.kind.Norm.Eps:
		return fmt.Errorf("norms of queries and keys: got eps %v, want the blocks' %v", a.QKNormEps, m.kind.Norm.Eps)
	case math.Abs(a.Scale-scale) > 1e-6*scale:
		return fmt.Errorf("scale of the scores: got %v, want %v", a.Scale, scale)
	}
	qkv, others := a.QKVBias, a.OutBias || m.kind.MLP.Bias
	switch {
	case m.biases != allBiases && others:
		return errors.New("biases: got some of the attention's output or the MLP, want none")
	case m.biases == noBiases && qkv || m.biases == qkvBiases && !qkv:
		return fmt.Errorf("biases of queries, keys and values: got %v, want %v", qkv, !qkv)
	}
	return nil
}

// checkLayer checks a layer against the first one, and records windows and positions.
func (m *ggufModel) checkLayer(i int) error {
	b, first := m.Block(i), m.kind
	window, err := windowOf(b.Attention.Mask)
	if err != nil {
		return err
	}
	got := b.Attention.RoPE
	b.Attention.Mask, b.Attention.RoPE = first.Attention.Mask, first.Attention.RoPE
	if !reflect.DeepEqual(b, first) {
		return fmt.Errorf("got another kind of block than in layer 0, want the same but for windows and positions")
	}
	rope := &m.global
	if m.slides {
		m.noteWindow(i, window)
		if (window > 0) != ((i+1)%m.period != 0) || window > 0 && window != m.window {
			return fmt.Errorf("window: got %d, want %d, and none in every %d-th layer", window, m.window, m.period)
		}
		if window > 0 {
			rope = &m.local
		}
	} else if window > 0 {
		m.context = min(m.context, window)
	}
	turned := !m.LearnedPositions && (m.skips == 0 || (i+1)%m.skips != 0)
	if turned && *rope == nil {
		*rope = got
	}
	switch {
	case turned != (got != nil):
		return fmt.Errorf("rotary positions: got %v, want %v", got != nil, turned)
	case turned && *got != **rope:
		return fmt.Errorf("rotary positions: got %+v, want those of the first layer, %+v", *got, **rope)
	}
	return nil
}

// noteWindow finds the window and its period in the first layers.
func (m *ggufModel) noteWindow(i, window int) {
	if i == 0 {
		m.period = m.NumLayers + 1
	}
	if m.window == 0 {
		m.window = window
	}
	if window == 0 && m.period > m.NumLayers {
		m.period = i + 1
	}
}

// windowOf returns how many keys a mask shows each query; 0 means all keys up to its own.
func windowOf(of mask.Mask) (int, error) {
	switch of := of.(type) {
	case nil:
		return 0, nil
	case mask.Causal:
		if of.Offset == 0 {
			return 0, nil
		}
	case mask.SlidingWindow:
		if of.Right == 0 {
			return of.Left + 1, nil
		}
	}
	return 0, fmt.Errorf("mask: got %T %+v, want a causal one or a window", of, of)
}

// checkRoPE checks the positions of layers without a window, and that layers with a window have no scaling.
func (m *ggufModel) checkRoPE(r *graph.RoPEConfig) error {
	if m.local != nil && m.local.Scaling != graph.NoScaling {
		return fmt.Errorf("positions of layers with a window: got the scaling %v, want none", m.local.Scaling)
	}
	if r == nil {
		return nil
	}
	d := m.kind.Attention.HeadDim
	switch {
	case r.Interleaved && !m.pairs:
		return fmt.Errorf("positions: got interleaved pairs, want (i, i + %d)", d/2)
	case m.family != &gptNeoX && r.Dims != d:
		return fmt.Errorf("positions: got %d of %d elements of a head turned, want all", r.Dims, d)
	case r.AtEnd && r.Dims != d:
		return fmt.Errorf("positions: got the end of each head turned, want its start")
	case r.Scaling == graph.Llama3Scaling && m.name != llamaForm.name:
		return fmt.Errorf("positions: got the scaling llama3, want none, linear, ntk or yarn")
	case r.BetaSlow != 0 && r.BetaSlow != 1 || r.BetaFast != 0 && r.BetaFast != 32 ||
		r.AttentionFactor != 0 && math.Abs(r.AttentionFactor-(0.1*math.Log(r.Factor)+1)) > 1e-6:
		return fmt.Errorf("positions: got yarn with betas or a factor of its own, want 1, 32 and 0.1·ln(factor) + 1")
	}
	return nil
}
