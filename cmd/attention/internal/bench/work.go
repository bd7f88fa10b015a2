package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/program"
	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"gorgonia.org/tensor"
)

// The modes of attention bench.
const (
	forwardOnly     = "forward"
	forwardBackward = "forward-backward"
	gptStep         = "gpt-step"
)

// Limits below which the operations of a work fit an int.
const (
	maxSize     = 1 << 24 // of batch, tokens and width each
	maxElements = 1 << 30 // of an input and of a weight
	maxLayers   = 1 << 10
	maxVocab    = 1 << 20
)

// characters is the number of distinct characters in a text: the default vocabulary of a GPT.
const characters = 65

// work is a computation to time. It is a layers.Attention of some size, with a bias in the
// output's projection only and without dropout; in mode gptStep it is a training step of a
// layers.GPT.
type work struct {
	Batch      int    `json:"batch"`
	Tokens     int    `json:"tokens"`
	EmbedDim   int    `json:"embed_dim"`
	NumHeads   int    `json:"num_heads"`
	NumKVHeads int    `json:"num_kv_heads"`         // 0 means NumHeads
	NumLayers  int    `json:"num_layers,omitempty"` // blocks of the GPT; only with gptStep
	VocabSize  int    `json:"vocab_size,omitempty"` // its distinct tokens
	Causal     bool   `json:"causal"`
	Mode       string `json:"mode"`
	Dtype      string `json:"dtype"`
	Precision  string `json:"precision"` // of the operands of products; empty means full
}

// name returns the sizes, mode and other settings that are not the default.
func (w work) name() string {
	s := fmt.Sprintf("B%d T%d E%d H%d", w.Batch, w.Tokens, w.EmbedDim, w.NumHeads)
	if k := w.keyHeads(); k != w.NumHeads {
		s += fmt.Sprintf(" K%d", k)
	}
	if w.Mode == gptStep {
		s += fmt.Sprintf(" L%d", w.NumLayers)
		if w.VocabSize != characters {
			s += fmt.Sprintf(" V%d", w.VocabSize)
		}
	}
	if !w.Causal {
		s += " no-causal"
	}
	if numbers := w.numbers(); numbers != "float32" {
		s += " " + numbers
	}
	return s + " " + w.Mode
}

// flags returns the flags that choose the work.
func (w work) flags() []string {
	f := []string{"--mode", w.Mode, "--dtype", w.Dtype, "--precision", w.precision().String(),
		"--no-causal=" + strconv.FormatBool(!w.Causal)}
	for _, s := range w.sizes() {
		f = append(f, "--"+s.name, strconv.Itoa(s.got))
	}
	f = append(f, "--kv-heads", strconv.Itoa(w.NumKVHeads))
	if w.Mode == gptStep {
		f = append(f, "--layers", strconv.Itoa(w.NumLayers), "--vocab", strconv.Itoa(w.VocabSize))
	}
	return f
}

type size struct {
	name string
	got  int
}

func (w work) sizes() []size {
	return []size{{"batch", w.Batch}, {"tokens", w.Tokens}, {"width", w.EmbedDim}, {"heads", w.NumHeads}}
}

func (w work) keyHeads() int { return cmp.Or(w.NumKVHeads, w.NumHeads) }

func (w work) elementType() tensor.Dtype {
	dt, _ := flags.Dtype(w.Dtype) // validated
	return dt
}

func (w work) precision() graph.Precision {
	p, _ := flags.Precision(cmp.Or(w.Precision, "full")) // validated
	return p
}

// numbers names what the products multiply: the element type or, if operands are rounded, program.BF16.
func (w work) numbers() string {
	if w.precision() == graph.BFloat16 {
		return program.BF16
	}
	return w.Dtype
}

// validate returns an error for flags that are out of range or do not go together.
func (w work) validate() error {
	for _, s := range w.sizes() {
		if s.got < 1 || s.got > maxSize {
			return fmt.Errorf("--%s: got %d, want a whole number from 1 to %d", s.name, s.got, maxSize)
		}
	}
	if w.EmbedDim%w.NumHeads != 0 {
		return fmt.Errorf("--heads: got %d, want a divisor of --width %d", w.NumHeads, w.EmbedDim)
	}
	if !slices.Contains([]string{forwardOnly, forwardBackward, gptStep}, w.Mode) {
		return fmt.Errorf("--mode: got %q, want %s, %s or %s", w.Mode, forwardOnly, forwardBackward, gptStep)
	}
	if w.Mode == gptStep && (w.NumLayers < 1 || w.NumLayers > maxLayers) {
		return fmt.Errorf("--layers: got %d, want a whole number from 1 to %d", w.NumLayers, maxLayers)
	}
	if w.Mode == gptStep && (w.VocabSize < 1 || w.VocabSize > min(maxVocab, maxElements/w.EmbedDim)) {
		return fmt.Errorf("--vocab: got %d, want a whole number from 1 to %d", w.VocabSize,
			min(maxVocab, maxElements/w.EmbedDim))
	}
	if w.Mode == gptStep && !w.Causal {
		return fmt.Errorf("--no-causal: got it with --mode %s, want a causal model", w.Mode)
	}
	if _, err := flags.Dtype(w.Dtype); err != nil {
		return err
	}
	precision, err := flags.Precision(cmp.Or(w.Precision, "full"))
	if err != nil {
		return err
	}
	if err := flags.CheckPrecision(precision, w.elementType()); err != nil {
		return err
	}
	if w.NumKVHeads < 0 || w.NumHeads%w.keyHeads() != 0 {
		return fmt.Errorf("--kv-heads: got %d, want a divisor of --heads %d", w.NumKVHeads, w.NumHeads)
	}
	if w.EmbedDim > maxElements/w.EmbedDim {
		return fmt.Errorf("--width: got %d, want weights of at most %d elements each", w.EmbedDim, maxElements)
	}
	if w.Tokens > maxElements/w.EmbedDim || w.Batch > maxElements/w.EmbedDim/w.Tokens {
		return fmt.Errorf("--batch %d --tokens %d --width %d: want an input of at most %d elements",
			w.Batch, w.Tokens, w.EmbedDim, maxElements)
	}
	return nil
}

// heeds returns an error for a flag on the command line that the mode ignores.
func (w work) heeds(changed func(flag string) bool) error {
	for _, flag := range []string{"layers", "vocab"} {
		if changed(flag) && w.Mode != gptStep {
			return fmt.Errorf("--%s: got it with --mode %s, want it with --mode %s only", flag, w.Mode, gptStep)
		}
	}
	return nil
}

// layer returns the config of the attention.
func (w work) layer() layers.AttentionConfig {
	c := layers.AttentionConfig{EmbedDim: w.EmbedDim, NumHeads: w.NumHeads, NumKVHeads: w.keyHeads(), OutBias: true}
	if w.Causal {
		c.Mask = mask.Causal{}
	}
	return c
}

// flop returns the number of operations that the work needs: 2·m·n·k for each matrix product and nothing for other
// operations. It counts only the scores that the mask allows and only the products that the gradients of the weights
// need.
func (w work) flop() int {
	rows, e := w.Batch*w.Tokens, w.EmbedDim
	kv := w.keyHeads() * (e / w.NumHeads)
	seen := w.Tokens * (w.Tokens + 1) / 2 // pairs of a query and a key it sees
	if !w.Causal {
		seen = w.Tokens * w.Tokens
	}
	project := 2 * rows * e * (e + kv + kv + e) // q, k, v = x·Wᵀ; out = context·Wᵀ
	attend := 2 * (2 * w.Batch * seen * e)      // q·kᵀ; weights·v
	switch w.Mode {
	case forwardOnly:
		return project + attend
	case gptStep:
		mlp := 2 * (2 * rows * e * 4 * e)
		logits := 2 * rows * e * w.VocabSize
		return 3 * (w.NumLayers*(project+attend+mlp) + logits) // forward and, for each product, two gradients
	}
	dWeights := project          // dW = dyᵀ·x of each projection
	dContext := 2 * rows * e * e // dcontext = dout·W; x needs no gradient
	dAttend := 2 * attend        // dweights = dcontext·vᵀ, dv = weightsᵀ·dcontext; dq = dscores·k, dk = dscoresᵀ·q
	return project + attend + dWeights + dContext + dAttend
}
