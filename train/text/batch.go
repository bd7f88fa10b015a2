package text

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"attention/graph"
	"attention/internal/config"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Names of the inputs of a batch of windows.
const (
	Inputs  = "inputs"  // (B, T) ids
	Targets = "targets" // (B, T) ids, each the one after its input, or graph.IgnoreTarget
)

// WindowConfig shapes a batch of windows.
type WindowConfig struct {
	Batch    int  `json:"batch"`     // B, windows of a batch; at least 1
	Context  int  `json:"context"`   // T, positions of a window; at least 1
	LastOnly bool `json:"last_only"` // only the last target of each window counts, for models that see the whole window
}

// maxBatchTokens is the largest number of tokens of a batch; a larger batch is a mistake.
const maxBatchTokens = math.MaxInt32

// Validate returns an error for sizes below 1 and batches of more than 2³¹−1 tokens.
func (c WindowConfig) Validate() error {
	if err := config.AtLeast(c, 1, "Batch", "Context"); err != nil {
		return err
	}
	if c.Batch > maxBatchTokens/c.Context {
		return config.Errorf(c, "Batch", "got %d with %s=%d, want at most %d tokens in all",
			c.Batch, config.Field("Context"), c.Context, maxBatchTokens)
	}
	return nil
}

// check returns an error for a batch that cannot be filled from ids.
func (c WindowConfig) check(ids []int) error {
	if err := c.Validate(); err != nil {
		return fmt.Errorf("text: %w", err)
	}
	if len(ids) <= c.Context {
		return fmt.Errorf("text: ids: got %d, want more than the context of %d", len(ids), c.Context)
	}
	return nil
}

// windowBatch is a batch of windows of ids. Every batch uses the same memory.
type windowBatch struct {
	config          WindowConfig
	ids             []int
	batch           train.Batch
	inputs, targets []int
}

// newWindowBatch checks the config and allocates the batch.
func newWindowBatch(ids []int, c WindowConfig) (*windowBatch, error) {
	if err := c.check(ids); err != nil {
		return nil, err
	}
	inputs := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(c.Batch, c.Context))
	targets := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(c.Batch, c.Context))
	return &windowBatch{
		config:  c,
		ids:     ids,
		batch:   train.Batch{Inputs: map[string]*tensor.Dense{Inputs: inputs, Targets: targets}},
		inputs:  inputs.Ints(),
		targets: targets.Ints(),
	}, nil
}

// part returns part i of the inputs and of the targets, in parts of n tokens. It first sets the targets to
// graph.IgnoreTarget.
func (w *windowBatch) part(i, n int) (inputs, targets []int) {
	inputs, targets = w.inputs[i*n:(i+1)*n], w.targets[i*n:(i+1)*n]
	for i := range targets {
		targets[i] = graph.IgnoreTarget
	}
	return inputs, targets
}

// first returns the first position of a window whose target counts.
func (w *windowBatch) first() int {
	if w.config.LastOnly {
		return w.config.Context - 1
	}
	return 0
}

// set fills row b with the window that begins at start and counts its targets.
// Positions past the end of the text get input 0 and no target.
func (w *windowBatch) set(b, start int) { w.setPart(b, w.config.Context, start) }

// setPart does the same as set for part i of the batch, in parts of n tokens.
func (w *windowBatch) setPart(i, n, start int) {
	inputs, targets := w.part(i, n)
	n = min(n, max(0, len(w.ids)-1-start))
	clear(inputs[n:])
	if n == 0 {
		return
	}
	copy(inputs, w.ids[start:start+n])
	for i := w.first(); i < n; i++ {
		targets[i] = w.ids[start+i+1]
		w.batch.Tokens++
	}
}

// setAround does the same as set for a text that continues with its beginning after its end, so that every position has
// a target.
func (w *windowBatch) setAround(b, start int) {
	inputs, targets := w.part(b, w.config.Context)
	for i := range inputs {
		inputs[i] = w.ids[(start+i)%len(w.ids)]
	}
	for i := w.first(); i < len(targets); i++ {
		targets[i] = w.ids[(start+i+1)%len(w.ids)]
		w.batch.Tokens++
	}
}

const positionBytes = 8

// encodePosition returns a position in a text as 8 bytes.
func encodePosition(position int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(position))
}

// decodePosition sets position from the bytes of encodePosition, if it is below limit. After an error position is
// unchanged.
func decodePosition(position *int, state []byte, limit int) error {
	if len(state) != positionBytes {
		return fmt.Errorf("text: state of a source: got %d bytes, want %d", len(state), positionBytes)
	}
	read := binary.BigEndian.Uint64(state)
	if read >= uint64(limit) {
		return fmt.Errorf("text: state of a source: got position %d, want one below %d: was it another text?", read, limit)
	}
	*position = int(read)
	return nil
}

// TokenLoss returns the loss of a language model on batches of windows from Windows, Epoch and Cycle: the mean cross
// entropy of the next tokens, in nats. loss maps ids (B, T) and the next ids (B, T) to a scalar, as a model's Loss
// does.
func TokenLoss(loss func(b *layers.Build, ids, targets *G.Node) (*G.Node, error)) layers.Formula {
	return func(b *layers.Build, in layers.Inputs) []*G.Node {
		if loss == nil {
			return b.Nodes(nil, errors.New("text: token loss: got nil for the model's loss, want a function"))
		}
		return b.Nodes(loss(b, in[Inputs], in[Targets]))
	}
}

// PackedLoss is TokenLoss for batches of Packed, whose rows hold one or several texts. loss is a model's PackedLoss;
// the nodes of its packing are nil for rows of one text.
func PackedLoss(loss func(b *layers.Build, ids, targets *G.Node, p layers.Packing) (*G.Node, error)) layers.Formula {
	return func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(loss(b, in[Inputs], in[Targets], Packing(in)))
	}
}

// Packing returns the packing of a batch of Packed, whose nodes are nil for rows of one text.
func Packing(in layers.Inputs) layers.Packing {
	return layers.Packing{Segments: in[Segments], Positions: in[Positions]}
}
