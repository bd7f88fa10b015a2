package translate

import (
	"fmt"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
)

// crossAttention matches the paths of the decoder's cross-attentions, the ones of the picture.
const crossAttention = "*.multihead_attn"

// watch makes the run record how its weights move, and all attention weights of the held-out date of the picture.
func (r *translation) watch() error {
	e := r.Settings.Model.Width
	return r.folder.WatchTo(r.loop, train.WatchConfig{
		Matrices: run.QueryParts(r.Params, "in_proj_weight", train.MatrixPart{Rows: e}),
		Probe:    r.probe,
	})
}

// probe returns the attention weights of the held-out date of the picture and its translation.
func (r *translation) probe(b *layers.Build) (train.Probe, error) {
	p := r.heldOut.Pairs[drawnPair]
	if err := translatePair(r.Model, b, p); err != nil {
		return train.Probe{}, err
	}
	weights := map[string]*G.Node{}
	for _, call := range b.Calls("*") {
		weights[call.Path] = b.Of(call.Weights())
	}
	if err := b.Err(); err != nil {
		return train.Probe{}, err
	}
	written := strings.Split(p.Written, "")
	writes := strings.Split(p.ISO, "")
	reads := append([]string{"<begin>"}, writes[:len(writes)-1]...)
	return run.NewProbe(weights, func(name string) run.ProbeText {
		switch {
		case strings.HasSuffix(name, crossAttention[1:]):
			return run.ProbeText{Queries: writes, Keys: written}
		case strings.Contains(name, "decoder"):
			return run.ProbeText{Queries: reads, Keys: reads, Causal: true}
		}
		return run.ProbeText{Queries: written, Keys: written}
	})
}

// drawWatched draws what the run has recorded.
func (r *translation) drawWatched() error {
	return r.folder.DrawWatched(r.Params, crossAttention, fmt.Sprintf("%s, run %s", run.DatesModel, r.folder.Name()))
}
