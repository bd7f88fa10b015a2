package train

import "io"

// SequentialConfig shapes batches of windows that follow each other.
type SequentialConfig struct {
	Batch    int  `json:"batch"`     // B, windows a batch; at least 1
	Context  int  `json:"context"`   // T, positions a window; at least 1
	LastOnly bool `json:"last_only"` // only the last target of each window counts
}

// Sequential walks through a whole text in windows that do not overlap, in
// order: window w has the inputs w·T … w·T+T−1 and the targets one further. All
// batches have one shape: at the text's end, what no window fills is handed out
// with graph.IgnoreTarget as the targets, so that every target counts once (with
// LastOnly the last one of every whole window).
type Sequential struct {
	ids    []int
	config SequentialConfig
	next   int // first input of the next batch
	out    *windowBatch
}

// NewSequential makes a source over ids, which it keeps. A batch size or context
// below 1 and ids no longer than the context are errors.
func NewSequential(ids []int, c SequentialConfig) (*Sequential, error) {
	if err := checkWindows(ids, c.Batch, c.Context); err != nil {
		return nil, err
	}
	return &Sequential{ids: ids, config: c, out: newWindowBatch(c.Batch, c.Context, c.LastOnly)}, nil
}

// Next returns the next windows, or io.EOF after the last ones; the call after
// that begins anew. The tensors are the same each time with new contents: copy
// what must outlive the next call.
func (s *Sequential) Next() (Batch, error) {
	s.out.batch.Tokens = 0
	for b := range s.config.Batch {
		s.out.set(b, s.next, s.ids)
		s.next += s.config.Context
	}
	if s.out.batch.Tokens == 0 {
		s.next = 0
		return Batch{}, io.EOF
	}
	return s.out.batch, nil
}

// State returns where the source stands in its text.
func (s *Sequential) State() []byte { return stateOf(s.next) }

// SetState goes on where a source stood whose State returned state, over the same
// ids and with the same batch size and context.
func (s *Sequential) SetState(state []byte) (err error) {
	s.next, err = positionIn(state, s.next, len(s.ids)+s.config.Batch*s.config.Context)
	return err
}
