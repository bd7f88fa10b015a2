package train

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/layers"
	"attention/train/record"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// statsTokens is the most tokens of the text of --head-stats.
const statsTokens = 1024

// collapsed is an entropy in nats. A head with less looks at one key only: at 0.1 nats that key has a weight of 0.98.
const collapsed = 0.1

// checkHeads returns an error if --head-stats is given for a model without heads.
func (r *training) checkHeads() error {
	if !r.config.HeadStats {
		return nil
	}
	calls := 0
	f, err := layers.NewFunc(r.model.Params(), func(b *layers.Build, in layers.Inputs) []*G.Node {
		logits := b.Of(r.model.Forward(b, in["ids"]))
		calls = len(b.Calls("*"))
		return []*G.Node{logits}
	}, layers.FuncConfig{})
	if err != nil {
		return err
	}
	id := tensor.New(tensor.WithShape(1), tensor.WithBacking([]int{0}))
	if _, err := f.Call(context.Background(), layers.Values{"ids": id}); err != nil {
		return err
	}
	if calls == 0 {
		return fmt.Errorf("--head-stats: got layer %s, which has no heads, want another", r.model.Title())
	}
	return nil
}

// headNumber is one of the statistics of a head.
type headNumber struct {
	layer  string
	head   int // from 0
	number float64
}

// headNumbers returns a statistic of heads.Record, such as the entropy, for all heads in a record, in ascending order.
// NaN comes first.
func headNumbers(r record.Record, statistic string) (all []headNumber) {
	for _, name := range slices.Sorted(maps.Keys(r.Numbers)) {
		if layer, ok := strings.CutPrefix(name, statistic+"."); ok {
			for h, v := range r.Numbers[name] {
				all = append(all, headNumber{layer, h, float64(v)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b headNumber) int { return cmp.Compare(a.number, b.number) })
	return all
}

// name returns the name of the head.
func (h headNumber) name() string {
	return fmt.Sprintf("%s, head %d", strings.TrimPrefix(strings.TrimPrefix(h.layer, "transformer."), "model."), h.head)
}

// printHeads prints the statistics of a record.
func (r *training) printHeads(at record.Record) {
	var phrases []string
	entropies, scores := headNumbers(at, "entropy"), headNumbers(at, "largest_score")
	for _, part := range [][]string{extremes(entropies, scores), collapse(entropies)} {
		if len(phrases) > 0 && len(part) > 0 {
			phrases[len(phrases)-1] += ";"
		}
		phrases = append(phrases, part...)
	}
	if len(phrases) > 0 {
		r.Progress.Clear()
		r.Table.Head(r.Out)
		fmt.Fprint(r.Out, term.Fill(fmt.Sprintf("%*d  ", r.stepWidth(), at.Step), phrases...))
	}
}

// extremes returns the least and the largest entropy, and the largest score, of heads in the order of heads.Record.
func extremes(entropies, scores []headNumber) []string {
	if len(entropies) == 0 {
		return nil
	}
	least, most, largest := entropies[0], entropies[len(entropies)-1], scores[len(scores)-1]
	return []string{
		fmt.Sprintf("entropy %.2f nats (%s) to %.2f (%s),", least.number, least.name(), most.number, most.name()),
		fmt.Sprintf("largest score %.2f (%s)", largest.number, largest.name()),
	}
}

// collapse describes the number of collapsed heads, if there are any. The entropies of the heads must be in ascending
// order.
func collapse(entropies []headNumber) []string {
	low := slices.IndexFunc(entropies, func(h headNumber) bool { return h.number >= collapsed })
	if low < 0 {
		low = len(entropies)
	}
	if low == 0 {
		return nil
	}
	have := "have collapsed: their"
	if low == 1 {
		have = "has collapsed: its"
	}
	return []string{fmt.Sprintf("%d of %s %s entropy is below %v nats", low, settings.Count(len(entropies), "head"), have,
		collapsed)}
}
