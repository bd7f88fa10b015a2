package forward

import (
	"context"
	"errors"
	"fmt"

	"attention/layers/chapter"
)

// Journey is the path of one token through a model and one of its layers, with the result of each step.
type Journey struct {
	Steps []JourneyStep `json:"steps"`
	Next  []Candidate   `json:"next"` // the likeliest next tokens
}

// JourneyStep is a step of a journey. Its formula names the steps before it.
type JourneyStep struct {
	Name    string           `json:"name"`
	Formula string           `json:"formula,omitempty"`
	Exact   *chapter.Formula `json:"exact,omitempty"` // nil if the formula is words
	Place   string           `json:"place"`           // of the model: partIn …
	Shape   []int            `json:"shape"`           // (N), (H, N) of heads, or (L, N) of blocks
	Block   *int             `json:"block,omitempty"` // index of the layer's block among L blocks
	Values  []float32        `json:"-"`               // NaN for hidden keys
}

// The parts of a model.
const (
	partIn        = "in"
	partAttention = "attention"
	partMLP       = "mlp"
	partBlocks    = "blocks"
	partOut       = "out"
)

// ErrForgotten is the error for a running training whose weights are no longer available, because newer ones were
// requested since.
var ErrForgotten = errors.New("the weights are not kept any more")

// Forget releases the model's weights. Afterwards the pass has only those journeys that are already computed.
func (l *Pass) Forget() { l.journeys.open.Store(nil) }

// mostLogits is the most logits that a journey ends with; of more it has the likeliest tokens alone.
const mostLogits = 4096

// Journey returns the journey of a token through a layer.
func (l *Pass) Journey(ctx context.Context, layer, token int) (*Journey, error) {
	if len(l.Sequences) != 1 || len(l.expects) == 0 {
		return nil, errors.New("journey: got a model of two texts or an encoder, want one that continues a text")
	}
	if n := len(l.Sequences[0].Tokens); layer < 0 || layer >= len(l.Layers) || token < 0 || token >= n {
		return nil, fmt.Errorf("journey: got token %d of layer %d, want one of %d and of %d", token, layer, n, len(l.Layers))
	}
	w, row, err := l.journeys.at(ctx, l, token)
	if err != nil {
		return nil, err
	}
	j := &journey{layer: l.Layers[layer], token: token}
	if err := j.stages(w, row); err != nil {
		return nil, err
	}
	last := len(j.steps) - 1
	logits := j.steps[last].Values
	at := expected{make([]float64, len(logits)), l.expects[0].tokenizer}
	for i, v := range logits {
		at.logits[i] = float64(v)
	}
	next, err := at.next(1, 0)
	if err != nil {
		return nil, err
	}
	if len(logits) > mostLogits {
		j.steps[last].Values, j.steps[last].Shape = nil, []int{0}
	}
	return &Journey{j.steps, next.Likeliest}, nil
}
