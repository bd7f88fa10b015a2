package train

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/layers"
	"attention/train/record"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The caps of a probe.
const (
	probeTokens  = 32      // of its text
	probeWeights = 100_000 // of all heads together; it has fewer tokens if need be
)

// probedTokens returns the number of tokens of the text whose attention weights a run records, or 0 if the model has
// too many heads.
func probedTokens(c run.ModelConfig) int {
	heads := 1
	if c.GPT != nil {
		heads = c.GPT.NumLayers * c.GPT.NumHeads
	} else if n := c.Layer.Attention.NumHeads; n > 0 {
		heads = n
	}
	n := int(math.Sqrt(float64(probeWeights / heads)))
	if !c.Causal() {
		return min(c.Context(), n) // training uses its last query only
	}
	return min(c.Context(), n, probeTokens)
}

// watch returns what the run records: parts of the matrices that make queries, and the attention weights of validation
// text from a word's start, whatever the prompt is. With --head-stats also the statistics of each head over more of it.
func (r *training) watch() (c record.Config, err error) {
	shown := probedTokens(r.config.Model)
	n := shown
	if r.config.HeadStats {
		n = max(n, min(r.model.Context(), statsTokens))
	}
	ids, err := r.words(0, n)
	if err != nil {
		return c, err
	}
	tokens, err := text.Texts(r.corpus.Tokenizer, ids[:shown])
	if err != nil {
		return c, err
	}
	part := record.Matrix{}
	if g := r.config.Model.GPT; g != nil {
		part.Columns = g.EmbedDim
	}
	about := text.WeightTexts{Queries: tokens, Keys: tokens, Causal: r.model.Causal()}
	return record.Config{
		Matrices: session.QueryParts(r.model.Params(), r.model.Queries(), part), OnRecord: r.printHeads,
		Probe: func(b *layers.Build) (record.Probe, error) { return r.probe(b, ids, about) },
	}, nil
}

// probe returns the attention weights of the first ids, which texts are about, and with --head-stats the statistics of
// each head over all of them.
func (r *training) probe(b *layers.Build, ids []int, about text.WeightTexts) (p record.Probe, err error) {
	if n := len(about.Queries); n > 0 {
		weights, err := r.model.AttentionWeights(b, boundIDs(b, "ids", ids[:n]))
		if err != nil {
			return p, err
		}
		p = session.NewProbe(weights, func(string) text.WeightTexts { return about })
	}
	if !r.config.HeadStats {
		return p, nil
	}
	before := len(b.Calls("*"))
	b.Observe("*")
	b.Of(r.model.Forward(b, boundIDs(b, "stats.ids", ids)))
	if err := b.Err(); err != nil {
		return p, err
	}
	s, err := layers.NewHeadStats(b.Calls("*")[before:])
	if err != nil {
		return p, err
	}
	p.Nodes, p.Numbers = s.Nodes, s.Numbers
	return p, nil
}

// boundIDs returns an input of a graph that has a value.
func boundIDs(b *layers.Build, name string, ids []int) *G.Node {
	n := b.InputOf(tensor.Int, name, len(ids))
	return b.Of(n, G.Let(n, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))))
}

// statsTokens is the most tokens of the text of --head-stats.
const statsTokens = 1024

// collapsed is the entropy, in nats, below which a head looks at one key only: with 0.1 that key has a weight of 0.98.
const collapsed = 0.1

// checkHeads returns an error for a flag about the heads of a model that has none.
func (r *training) checkHeads() error {
	flag := ""
	switch {
	case r.config.HeadStats:
		flag = "head-stats"
	case r.config.QKClip > 0:
		flag = "qk-clip"
	default:
		return nil
	}
	b := layers.NewBuild(r.model.Params(), layers.Eval)
	b.Of(r.model.Forward(b, b.InputOf(tensor.Int, "ids", 1)))
	if err := b.Err(); err != nil {
		return err
	}
	if len(b.Calls("*")) == 0 {
		return fmt.Errorf("--%s: got layer %s, which has no heads, want another", flag, r.model.Title())
	}
	return nil
}

// clipQK makes the steps of a training graph clip queries and keys, with --qk-clip.
func (r *training) clipQK(b *layers.Build) (err error) {
	if r.config.QKClip > 0 && b.Mode() == layers.Train {
		r.clip, err = layers.NewQKClip(b, "*", r.config.QKClip)
	}
	return err
}

// aHead is a head with one of its statistics.
type aHead struct {
	layer  string
	head   int
	number float64
}

func (h aHead) String() string {
	return fmt.Sprintf("%s, head %d", strings.TrimPrefix(h.layer, "transformer."), h.head+1)
}

// printHeads prints the statistics of a record, and what QK-clip did in the last step.
func (r *training) printHeads(record record.Record) {
	var phrases []string
	if entropies := headsBy(record, "entropy."); len(entropies) > 0 {
		scores := headsBy(record, "largest_score.")
		least, most, largest := entropies[0], entropies[len(entropies)-1], scores[len(scores)-1]
		phrases = append(phrases, fmt.Sprintf("entropy %.2f nats (%v) to %.2f (%v),", least.number, least, most.number, most),
			fmt.Sprintf("largest score %.2f (%v)", largest.number, largest))
		low := slices.IndexFunc(entropies, func(h aHead) bool { return h.number >= collapsed })
		if low < 0 {
			low = len(entropies)
		}
		if low > 0 {
			phrases[len(phrases)-1] += ";"
			phrases = append(phrases, fmt.Sprintf("%d of %d heads have collapsed: their entropy is below %v nats",
				low, len(entropies), collapsed))
		}
	}
	var clipped []layers.ClippedHead
	if r.clip != nil {
		clipped = r.clip.Last()
	}
	if len(clipped) > 0 {
		n, least := 0, 1.0
		for _, h := range clipped {
			if h.Gamma < 1 {
				n, least = n+1, math.Min(least, h.Gamma)
			}
		}
		if len(phrases) > 0 {
			phrases[len(phrases)-1] += ";"
		}
		phrases = append(phrases, fmt.Sprintf("QK-clip scaled %d of %d heads in this step, by %.3f or more",
			n, len(clipped), least))
	}
	if len(phrases) > 0 {
		r.Progress.Clear()
		r.printTableHead()
		fmt.Fprint(r.Out, term.Fill(fmt.Sprintf("%*d  ", r.stepWidth(), record.Step), phrases...))
	}
}

// headsBy returns all heads in the order of a statistic. NaN comes first.
func headsBy(record record.Record, statistic string) (all []aHead) {
	for _, name := range slices.Sorted(maps.Keys(record.Numbers)) {
		if layer, ok := strings.CutPrefix(name, statistic); ok {
			for h, v := range record.Numbers[name] {
				all = append(all, aHead{layer, h, float64(v)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b aHead) int { return cmp.Compare(a.number, b.number) })
	return all
}
