package layers

import (
	"cmp"
	"slices"

	"attention/graph"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// RNNSeq2SeqConfig sizes an RNNSeq2Seq.
type RNNSeq2SeqConfig struct {
	SourceVocabSize int `json:"source_vocab_size"`
	TargetVocabSize int `json:"target_vocab_size"` // V
	EmbedDim        int `json:"embed_dim"`         // E
	HiddenSize      int `json:"hidden_size"`       // N, of each direction of the encoder and of the decoder
	// AttnDim is A, the width of the additive attention; 0 means no attention, and the decoder
	// knows the source by one state alone.
	AttnDim int `json:"attn_dim,omitempty"`
}

// Validate returns an error that names the first wrong field.
func (c RNNSeq2SeqConfig) Validate() error { return inLayer("RNNSeq2Seq", c.validate()) }

func (c RNNSeq2SeqConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "SourceVocabSize", "TargetVocabSize", "EmbedDim", "HiddenSize"),
		config.AtLeast(c, 0, "AttnDim"), config.AtMost(c, maxElements/4, "EmbedDim", "HiddenSize", "AttnDim"))
	if err != nil {
		return err
	}
	err = tablesFit(c, "EmbedDim", c.EmbedDim, size{"SourceVocabSize", c.SourceVocabSize},
		size{"TargetVocabSize", c.TargetVocabSize})
	if err != nil {
		return err
	}
	for _, w := range []struct {
		size
		width int
	}{{size{"TargetVocabSize", c.TargetVocabSize}, c.outputDim()}, {size{"AttnDim", c.AttnDim}, 2 * c.HiddenSize}} {
		if w.number > maxElements/w.width {
			return config.Errorf(c, w.field, "got %d for %s=%d, want at most %d elements in a weight", w.number,
				config.Field("HiddenSize"), c.HiddenSize, maxElements)
		}
	}
	return config.From(c, cmp.Or(c.encoder().validate(), c.decoder().validate()),
		map[string]string{"InputSize": "EmbedDim", "HiddenSize": "HiddenSize"})
}

func (c RNNSeq2SeqConfig) encoder() GRUConfig {
	return GRUConfig{InputSize: c.EmbedDim, HiddenSize: c.HiddenSize, Bias: true, Bidirectional: true}
}

// decoder returns the config of the decoder, whose input is the token before and, with
// attention, the context.
func (c RNNSeq2SeqConfig) decoder() GRUConfig {
	return GRUConfig{InputSize: c.EmbedDim + c.contextDim(), HiddenSize: c.HiddenSize, Bias: true}
}

// contextDim returns the width of the context: that of the encoder's states, or 0.
func (c RNNSeq2SeqConfig) contextDim() int {
	if c.AttnDim == 0 {
		return 0
	}
	return 2 * c.HiddenSize
}

// outputDim returns the width of the vectors that the logits come from.
func (c RNNSeq2SeqConfig) outputDim() int { return c.HiddenSize + c.contextDim() }

// RNNSeq2Seq is the encoder–decoder before the transformer: a GRU reads the source in both
// directions, and another writes the target token by token. The first state is all that the
// decoder knows of the source (Cho et al. 2014; Sutskever et al. 2014), unless it attends
// (Bahdanau, Cho and Bengio 2014): then each step first attends with the state s before it to
// all of the encoder's states o.
//
//	s[0]    = tanh(W·[o→ at the end, o← at the start] + b)
//	c[t]    = Σ softmax(v·tanh(W_query·s[t−1] + W_key·o))·o       with attention
//	s[t]    = GRU([embedding of target t, c[t]], s[t−1])
//	logits  = W_out·[s[t], c[t]] + b_out
type RNNSeq2Seq struct {
	name           string // in errors
	config         RNNSeq2SeqConfig
	params         *Params
	source, target *Embedding
	encoder        *GRU
	bridge         *Linear
	attention      *AdditiveAttention // nil if there is none
	decoder        *GRU
	output         *Linear
}

// NewRNNSeq2Seq makes the parameters source.weight (SourceVocabSize, E), encoder of a GRU in
// both directions, bridge.weight (N, 2·N) and bridge.bias (N), target.weight (V, E),
// attention of an AdditiveAttention, if there is one, decoder of a GRU, and output.weight
// (V, N + 2·N with attention) and output.bias (V).
func NewRNNSeq2Seq(s Scope, c RNNSeq2SeqConfig) (*RNNSeq2Seq, error) {
	return checked(s, "RNNSeq2Seq", c, newRNNSeq2Seq)
}

func newRNNSeq2Seq(s Scope, c RNNSeq2SeqConfig) (*RNNSeq2Seq, error) {
	parts := maker{scope: s}
	m := &RNNSeq2Seq{name: s.name("RNNSeq2Seq"), config: c, params: s.params}
	n := c.HiddenSize
	m.source = part(&parts, "source", newEmbedding,
		EmbeddingConfig{NumEmbeddings: c.SourceVocabSize, EmbeddingDim: c.EmbedDim})
	m.encoder = part(&parts, "encoder", newGRU, c.encoder())
	m.bridge = part(&parts, "bridge", newLinear, LinearConfig{InFeatures: 2 * n, OutFeatures: n, Bias: true})
	m.target = part(&parts, "target", newEmbedding,
		EmbeddingConfig{NumEmbeddings: c.TargetVocabSize, EmbeddingDim: c.EmbedDim})
	if c.AttnDim > 0 {
		m.attention = part(&parts, "attention", newAdditiveAttention,
			AdditiveAttentionConfig{QueryDim: n, KeyDim: 2 * n, AttnDim: c.AttnDim})
	}
	m.decoder = part(&parts, "decoder", newGRU, c.decoder())
	m.output = part(&parts, "output", newLinear,
		LinearConfig{InFeatures: c.outputDim(), OutFeatures: c.TargetVocabSize, Bias: true})
	return done(&parts, m)
}

// Params returns the set of parameters that the model was made in.
func (m *RNNSeq2Seq) Params() *Params { return m.params }

// RNNMemory is what an RNNSeq2Seq keeps of a source.
type RNNMemory struct {
	States  *G.Node // ([B,] S, 2·N), the encoder's; only attention looks at them
	State   *G.Node // ([B,] N), the decoder's before the next token
	Lengths *G.Node // (B) of the sources without padding; nil means S
	Weights *G.Node // ([B,] 1, T, S), with which the tokens before attended; nil without them or attention
}

// Forward maps the ids of source ([B,] S) and target ([B,] T), int or int64, to the logits
// ([B,] T, V) of the tokens that follow each of target's. lengths, int or int64 (B), hide
// the padding that follows the first lengths[b] tokens of source b; nil means there is
// none.
func (m *RNNSeq2Seq) Forward(b *Build, source, target, lengths *G.Node) (*G.Node, error) {
	memory, err := m.Encode(b, source, lengths)
	if err != nil {
		return nil, err
	}
	logits, _, err := m.Decode(b, target, memory)
	return logits, err
}

// Loss returns the mean cross entropy of the logits for target, in nats: a scalar. targets
// are ids of target's shape; a target that is graph.IgnoreTarget does not count.
func (m *RNNSeq2Seq) Loss(b *Build, source, target, lengths, targets *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	return f.crossEntropy(f.Of(m.Forward(b, source, target, lengths)), targets)
}

// Encode maps the ids of source ([B,] S) to the initial memory of the decoder.
func (m *RNNSeq2Seq) Encode(b *Build, source, lengths *G.Node) (RNNMemory, error) {
	f := begin(b, m.name)
	if !f.isIDs("source", source, maxElements) {
		return RNNMemory{}, f.failure()
	}
	x := m.source.apply(f, source) // ([B,] S, E)
	states, ends := f.Of2(m.encoder.Forward(b, x, nil, lengths))
	shape := append(source.Shape()[:source.Dims()-1].Clone(), m.config.HiddenSize) // ([B,] N)
	end := func(i int) *G.Node { return f.Of(G.Reshape(f.Of(graph.Rows(ends, i, 1)), shape)) }
	state := f.Of(graph.Tanh(m.bridge.apply(f, f.Of(graph.Concat(end(0), end(1))))))
	if f.Err() != nil {
		return RNNMemory{}, f.failure()
	}
	return RNNMemory{States: states, State: state, Lengths: lengths}, nil
}

// Decode maps the ids of target ([B,] T), after a memory's state, to the logits ([B,] T, V) of the tokens that follow,
// and to the memory after the last token, which continues the target.
func (m *RNNSeq2Seq) Decode(b *Build, target *G.Node, memory RNNMemory) (logits *G.Node, after RNNMemory, err error) {
	f := begin(b, m.name)
	if !m.isDecoded(f, target, memory) {
		return nil, RNNMemory{}, f.failure()
	}
	x, after := m.target.apply(f, target), memory // ([B,] T, E)
	var h *G.Node                                 // the input of the output layer
	if m.attention == nil {
		state := f.Of(G.Reshape(memory.State, append(tensor.Shape{1}, memory.State.Shape()...)))
		states, end := f.Of2(m.decoder.Forward(b, x, state, nil))
		h, after.State = states, f.Of(G.Reshape(end, memory.State.Shape()))
	} else {
		h, after.State, after.Weights = m.attend(f, x, memory)
	}
	if logits = m.output.apply(f, h); f.Err() != nil {
		return nil, RNNMemory{}, f.failure()
	}
	return logits, after, nil
}

// isDecoded refuses a target and a memory that do not belong together.
func (m *RNNSeq2Seq) isDecoded(f *formula, target *G.Node, memory RNNMemory) bool {
	if !f.isIDs("target", target, maxElements) || !f.isNode("memory", memory.State) {
		return false
	}
	batch := target.Shape()[:target.Dims()-1]
	if want := append(batch.Clone(), m.config.HiddenSize); !slices.Equal(memory.State.Shape(), want) {
		return f.fail(errorf(m.name, "memory: state: shape %v, want %v", memory.State.Shape(), want))
	}
	if m.attention == nil {
		return true
	}
	if !f.isSequence("memory: states", memory.States, 2*m.config.HiddenSize, 0) {
		return false
	}
	if got := memory.States.Shape(); !slices.Equal(got[:got.Dims()-2], batch) {
		return f.fail(errorf(m.name, "memory: states: shape %v, want the batch of target's %v", got, target.Shape()))
	}
	return true
}
