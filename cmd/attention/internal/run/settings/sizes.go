package settings

import (
	"cmp"

	"attention/internal/config"
	"attention/layers"
	"attention/layers/chapter"
	"attention/train/tasks/dates"
)

// A size is the number of elements of a tensor of a training step, and a field to make smaller.
type size struct {
	of     any // the config of the field: the run's or the model's
	field  string
	value  int
	number float64 // as a float it does not overflow
	what   string
}

// The maximum number of elements of a tensor of a training step: 512 MB in float32, and a step has several. A GPT's
// may be larger.
const (
	largestTensor    = 1 << 27
	largestGPTTensor = 1 << 32
)

// validateSizes returns an error for sizes that do not fit in memory. All other checks come before it.
func (c Config) validateSizes() error {
	most, sizes := float64(largestTensor), []size(nil)
	switch m := c.Model; {
	case m.GPT != nil:
		most, sizes = largestGPTTensor, c.gptSizes(*m.GPT)
	case m.Encoder != nil: // which has a folder with weights of its sizes
		return nil
	case m.Decoder != nil:
		most, sizes = largestGPTTensor, c.decoderSizes(*m.Decoder)
	case m.Dates != nil:
		elements := float64(c.Batch) * float64(dates.WrittenLength) * 4 * float64(m.Dates.EmbedDim)
		sizes = []size{{c, "Batch", c.Batch, elements, "elements of an MLP"}}
	default:
		sizes = c.layerSizes(*m.Layer)
	}
	for _, s := range sizes {
		if s.number <= most {
			continue
		}
		err := config.Errorf(s.of, s.field, "got %d, which makes %.3g %s, want at most %.0f", s.value, s.number,
			s.what, most)
		if _, ok := s.of.(Config); !ok {
			err = config.In(c, "Model", err)
		}
		return err
	}
	return nil
}

func (c Config) gptSizes(m layers.GPTConfig) []size {
	b, t, e := float64(c.Batch), float64(c.rowLength()), float64(m.EmbedDim)
	v, n := float64(m.VocabSize), float64(m.NumLayers)
	hidden := float64(m.DimFeedforward)
	if m.DimFeedforward == 0 {
		hidden = 4 * e
	}
	return []size{
		{m, "EmbedDim", m.EmbedDim, 3 * e * e, "weights of a projection"},
		{m, "DimFeedforward", m.DimFeedforward, e * hidden, "weights of a projection"},
		{m, "EmbedDim", m.EmbedDim, v * e, "weights of an embedding"},
		{m, "ContextLength", m.ContextLength, t * e, "weights of an embedding"},
		{c, "Batch", c.Batch, b * t * max(3*e, hidden), "elements of a batch's vectors"},
		{c, "Batch", c.Batch, b * t * v, "scores of next " + c.Vocabulary.Unit()},
		{m, "NumLayers", m.NumLayers, n * e * (4*e + 2*hidden), "weights of all layers"},
	}
}

func (c Config) decoderSizes(m layers.DecoderConfig) []size {
	const width = "Blocks[0].Attention.EmbedDim"
	E := m.Blocks[0].Attention.EmbedDim
	b, t, e := float64(c.Batch), float64(c.rowLength()), float64(E)
	v, n, hidden := float64(m.VocabSize), float64(m.NumLayers), 0.0
	for _, block := range m.Blocks {
		hidden = max(hidden, float64(cmp.Or(block.MLP.DimFeedforward, 4*E)))
	}
	sizes := []size{
		{m, width, E, e * max(3*e, hidden), "weights of a projection"},
		{m, width, E, v * e, "weights of an embedding"},
		{c, "Batch", c.Batch, b * t * max(3*e, hidden), "elements of a batch's vectors"},
		{c, "Batch", c.Batch, b * t * v, "scores of next " + c.Vocabulary.Unit()},
		{m, "NumLayers", m.NumLayers, n * e * (4*e + 3*hidden), "weights of all layers"},
	}
	if m.LearnedPositions {
		sizes = append(sizes, size{m, "ContextLength", m.ContextLength, t * e, "weights of an embedding"})
	}
	return sizes
}

func (c Config) layerSizes(m chapter.LanguageModelConfig) []size {
	b, t, e, v := float64(c.Batch), float64(m.ContextLength), float64(m.EmbedDim), float64(m.VocabSize)
	scores := b * t * t
	switch {
	case m.Attention.Uses("NumHeads"):
		scores *= float64(m.Attention.NumHeads)
	case m.Attention.Uses("AttnDim"):
		scores *= e
	}
	return []size{
		{m, "EmbedDim", m.EmbedDim, e * e, "weights of a projection"},
		{m, "EmbedDim", m.EmbedDim, v * e, "weights of an embedding"},
		{m, "ContextLength", m.ContextLength, t * e, "weights of an embedding"},
		{c, "Batch", c.Batch, b * t * e, "elements of a batch's vectors"},
		{c, "Batch", c.Batch, b * t * v, "scores of next " + c.Vocabulary.Unit()},
		{m, "ContextLength", m.ContextLength, scores, "scores of queries and keys"},
	}
}
