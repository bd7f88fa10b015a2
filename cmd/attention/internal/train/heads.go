package train

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"attention/cmd/attention/internal/term"
	"attention/layers"
	"attention/train/record"

	"gorgonia.org/tensor"
)

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
	entropies := headsBy(record, "entropy.")
	for _, part := range [][]string{extremes(entropies, headsBy(record, "largest_score.")), collapse(entropies), r.clipped()} {
		if len(phrases) > 0 && len(part) > 0 {
			phrases[len(phrases)-1] += ";"
		}
		phrases = append(phrases, part...)
	}
	if len(phrases) > 0 {
		r.Progress.Clear()
		r.printTableHead()
		fmt.Fprint(r.Out, term.Fill(fmt.Sprintf("%*d  ", r.stepWidth(), record.Step), phrases...))
	}
}

// extremes returns the least and the largest entropy, and the largest score, of heads in their order.
func extremes(entropies, scores []aHead) []string {
	if len(entropies) == 0 {
		return nil
	}
	least, most, largest := entropies[0], entropies[len(entropies)-1], scores[len(scores)-1]
	return []string{fmt.Sprintf("entropy %.2f nats (%v) to %.2f (%v),", least.number, least, most.number, most),
		fmt.Sprintf("largest score %.2f (%v)", largest.number, largest)}
}

// collapse returns how many heads have collapsed, if one has. Heads come in the order of their entropies.
func collapse(entropies []aHead) []string {
	low := slices.IndexFunc(entropies, func(h aHead) bool { return h.number >= collapsed })
	if low < 0 {
		low = len(entropies)
	}
	if low == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d heads have collapsed: their entropy is below %v nats",
		low, len(entropies), collapsed)}
}

// clipped returns what QK-clip did in the last step.
func (r *training) clipped() []string {
	if r.clip == nil || len(r.clip.Last()) == 0 {
		return nil
	}
	n, least, heads := 0, 1.0, r.clip.Last()
	for _, h := range heads {
		if h.Gamma < 1 {
			n, least = n+1, math.Min(least, h.Gamma)
		}
	}
	return []string{fmt.Sprintf("QK-clip scaled %d of %d heads in this step, by %.3f or more", n, len(heads), least)}
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
