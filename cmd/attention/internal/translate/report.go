package translate

import (
	"fmt"
	"time"
)

const (
	shownPairs = 8
	shownWrong = 4 // at most
)

// printHead prints the sizes of the data and the model.
func (r *translation) printHead() {
	o, c := r.options, r.model.Config()
	fmt.Fprintf(r.out, "dates     %d to %d in %d styles: %d to learn from, %d held out\n",
		firstYear, lastYear, len(dateStyles()), len(r.training.dates), len(r.heldOut.pairs))
	fmt.Fprintf(r.out, "model     width %d, %d heads, blocks %d + %d: %d parameters\n",
		c.EmbedDim, c.NumHeads, c.NumEncoderLayers, c.NumDecoderLayers, r.params.Count())
	fmt.Fprintf(r.out, "training  %d steps of %d dates\n\n", o.steps, o.batch)
}

// printVerdict prints how many held-out dates were translated right, and examples.
func (r *translation) printVerdict(got []string, trained, translated time.Duration) {
	var wrong, right []int
	for i, p := range r.heldOut.pairs {
		if got[i] == p.iso {
			right = append(right, i)
		} else {
			wrong = append(wrong, i)
		}
	}
	fmt.Fprintf(r.out, "\n%d steps in %.1f s. Of the held-out dates, translated in %.1f s, %d of %d\n"+
		"are right to the last character: %.2f %% exact match.\n\n",
		r.loop.Steps(), trained.Seconds(), translated.Seconds(), len(right), len(got),
		100*float64(len(right))/float64(len(got)))
	wrong = wrong[:min(len(wrong), max(shownWrong, shownPairs-len(right)))]
	for _, i := range right[:min(len(right), shownPairs-len(wrong))] {
		fmt.Fprintf(r.out, "%-*s  %s\n", writtenLength, r.heldOut.pairs[i].written, got[i])
	}
	for _, i := range wrong {
		fmt.Fprintf(r.out, "%-*s  %s, want %s\n", writtenLength, r.heldOut.pairs[i].written, got[i], r.heldOut.pairs[i].iso)
	}
}
