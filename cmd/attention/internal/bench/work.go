package bench

import (
	"fmt"
	"strconv"

	"attention/cmd/attention/internal/flags"
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
	maxSize          = 1 << 24 // of batch, tokens and width each
	maxBenchElements = 1 << 30 // of an input and of a weight
	maxBenchLayers   = 1 << 10
)

// work is a computation to time. It is a causal layers.Attention of some size, with a bias
// in the output's projection only and without dropout; in mode gptStep it is a training
// step of a layers.GPT.
type work struct {
	batch, tokens, width, heads int
	kvHeads                     int  // K; 0 means heads
	layers                      int  // blocks of the GPT; only with gptStep
	full                        bool // no causal mask
	mode, dtype                 string
}

// name returns the sizes, mode and other settings that are not the default.
func (w work) name() string {
	s := fmt.Sprintf("B%d T%d E%d H%d", w.batch, w.tokens, w.width, w.heads)
	if k := w.keyHeads(); k != w.heads {
		s += fmt.Sprintf(" K%d", k)
	}
	if w.mode == gptStep {
		s += fmt.Sprintf(" L%d", w.layers)
	}
	if w.full {
		s += " no-causal"
	}
	if w.dtype != "float32" {
		s += " " + w.dtype
	}
	return s + " " + w.mode
}

// flags returns the flags that choose the work.
func (w work) flags() []string {
	f := []string{"--mode", w.mode, "--dtype", w.dtype, "--no-causal=" + strconv.FormatBool(w.full)}
	for _, s := range w.sizes() {
		f = append(f, "--"+s.name, strconv.Itoa(s.got))
	}
	return append(f, "--kv-heads", strconv.Itoa(w.kvHeads), "--layers", strconv.Itoa(w.layers))
}

type size struct {
	name string
	got  int
}

func (w work) sizes() []size {
	return []size{{"batch", w.batch}, {"tokens", w.tokens}, {"width", w.width}, {"heads", w.heads}}
}

func (w work) keyHeads() int {
	if w.kvHeads == 0 {
		return w.heads
	}
	return w.kvHeads
}

func (w work) elementType() tensor.Dtype {
	dt, _ := flags.Dtype(w.dtype) // validated
	return dt
}

// validate returns an error for flags that are out of range or do not go together.
func (w work) validate() error {
	for _, s := range w.sizes() {
		if s.got < 1 || s.got > maxSize {
			return fmt.Errorf("--%s: got %d, want a whole number from 1 to %d", s.name, s.got, maxSize)
		}
	}
	if w.width%w.heads != 0 {
		return fmt.Errorf("--heads: got %d, want a divisor of --width %d", w.heads, w.width)
	}
	if w.mode != forwardOnly && w.mode != forwardBackward && w.mode != gptStep {
		return fmt.Errorf("--mode: got %q, want %s, %s or %s", w.mode, forwardOnly, forwardBackward, gptStep)
	}
	if w.mode == gptStep && (w.layers < 1 || w.layers > maxBenchLayers) {
		return fmt.Errorf("--layers: got %d, want a whole number from 1 to %d", w.layers, maxBenchLayers)
	}
	if w.mode == gptStep && w.full {
		return fmt.Errorf("--no-causal: got it with --mode %s, want a causal model", gptStep)
	}
	if _, err := flags.Dtype(w.dtype); err != nil {
		return err
	}
	if w.kvHeads < 0 || w.heads%w.keyHeads() != 0 {
		return fmt.Errorf("--kv-heads: got %d, want a divisor of --heads %d", w.kvHeads, w.heads)
	}
	if w.width > maxBenchElements/w.width {
		return fmt.Errorf("--width: got %d, want weights of at most %d elements each", w.width, maxBenchElements)
	}
	if w.tokens > maxBenchElements/w.width || w.batch > maxBenchElements/w.width/w.tokens {
		return fmt.Errorf("--batch %d --tokens %d --width %d: want an input of at most %d elements",
			w.batch, w.tokens, w.width, maxBenchElements)
	}
	return nil
}

// layer returns the config of the attention.
func (w work) layer() layers.AttentionConfig {
	c := layers.AttentionConfig{EmbedDim: w.width, NumHeads: w.heads, NumKVHeads: w.keyHeads(), OutBias: true}
	if !w.full {
		c.Mask = mask.Causal{}
	}
	return c
}

// flop returns the operations that the work needs: 2·m·n·k for each matrix product and
// none for anything else. It counts only the scores that the mask leaves and only the
// products that the gradients of the weights need.
func (w work) flop() int {
	if w.mode == gptStep {
		return w.stepFlop()
	}
	rows, e := w.batch*w.tokens, w.width
	d := e / w.heads
	kv := w.keyHeads() * d
	seen := w.tokens * (w.tokens + 1) / 2 // pairs of a query and a key it sees
	if w.full {
		seen = w.tokens * w.tokens
	}
	project := 2 * rows * e * (e + kv + kv + e)      // q, k, v = x·Wᵀ; out = context·Wᵀ
	attend := 2 * (2 * w.batch * w.heads * seen * d) // q·kᵀ; weights·v
	if w.mode == forwardOnly {
		return project + attend
	}
	dWeights := project          // dW = dyᵀ·x of each projection
	dContext := 2 * rows * e * e // dcontext = dout·W; x needs no gradient
	dAttend := 2 * attend        // dweights = dcontext·vᵀ, dv = weightsᵀ·dcontext; dq = dscores·k, dk = dscoresᵀ·q
	return project + attend + dWeights + dContext + dAttend
}
