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
	"attention/train"
)

// watch makes the run record how its weights move, and the attention of a text: validation text from a word's start,
// whatever the prompt is.
func (r *training) watch() error {
	n := r.model.ProbeTokens()
	if r.config.HeadStats {
		n = max(n, min(r.model.Context(), statsTokens))
	}
	begin, err := r.wordStart(0, n)
	if err != nil {
		return err
	}
	c, err := r.model.Watch(r.corpus.Tokenizer, r.corpus.Validation[begin:][:n], r.config.HeadStats)
	if err != nil {
		return err
	}
	c.OnRecord = r.printHeads
	return r.folder.WatchTo(r.loop, c)
}

// statsTokens is the most tokens of the text of --head-stats.
const statsTokens = 1024

// collapsed is an entropy, in nats, below which a head looks at one key only: 0.1 is that of a weight of 0.98.
const collapsed = 0.1

// checkHeads returns an error for flags about the heads of a model that has none.
func (r *training) checkHeads() error {
	var stats, clip error
	if r.config.HeadStats {
		stats = r.model.CheckHeads("head-stats")
	}
	if r.config.QKClip > 0 {
		clip = r.model.CheckHeads("qk-clip")
	}
	return cmp.Or(stats, clip)
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
func (r *training) printHeads(record train.WatchRecord) {
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
	if clipped := r.clip.Last(); len(clipped) > 0 {
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
		r.progress.Clear()
		r.printTableHead()
		fmt.Fprint(r.out, term.Fill(fmt.Sprintf("%*d  ", r.stepWidth(), record.Step), phrases...))
	}
}

// headsBy returns all heads in the order of a statistic. NaN comes first.
func headsBy(record train.WatchRecord, statistic string) (all []aHead) {
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

// drawWatched draws what the run has recorded.
func (r *training) drawWatched() error {
	title := fmt.Sprintf("%s, run %s", r.model.Title(), r.folder.Name())
	return r.folder.DrawWatched(r.model.Params(), "*", title)
}
