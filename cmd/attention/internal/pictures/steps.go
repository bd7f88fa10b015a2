package pictures

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/train/record"
	"attention/train/text"
)

// The limits of a picture of attention weights over time.
const (
	drawnHeads  = 4
	drawnTokens = 32 // queries, and keys
	drawnCausal = 20 // for a text that is shown from its beginning
)

// probeHead is a head of a probe.
type probeHead struct {
	name    string // of the probe's weights
	layer   int    // order of the layer
	head    int    // from 0
	text    text.WeightTexts
	moments [][]float64 // weights (T, S)
	moved   float64     // Σ |w(last) - w(first)|
}

// Steps returns the attention weights whose names match a pattern of path.Match, for the heads that changed most. ok is
// false if there are none.
func Steps(w *record.Recording, pattern, title string) (picture plot.HeatMaps, ok bool, err error) {
	heads, err := probeHeads(w, pattern)
	if err != nil || len(heads) == 0 {
		return picture, false, err
	}
	return stepsPicture(w, heads, title), true, nil
}

// stepsPicture returns the attention weights of heads, a row for each, at some moments.
func stepsPicture(w *record.Recording, heads []probeHead, title string) plot.HeatMaps {
	moments := pick(len(w.Steps), drawnMoments)
	var names []string
	for _, h := range heads {
		names = append(names, h.name)
	}
	of, layers := layersOf(names)
	picture := plot.HeatMaps{Title: fmt.Sprintf("Attention weights from untrained to trained: %s, %s", of, title),
		X: "key", Y: "query", Scale: "attention weight", Across: len(moments)}
	for n, h := range heads {
		for _, i := range moments {
			picture.Maps = append(picture.Maps, plot.HeatMap{
				Title:   fmt.Sprintf("%shead %d: step %d", layers[n], h.head, w.Steps[i]),
				Columns: plot.Labels(h.text.Keys), Rows: plot.Labels(h.text.Queries), Values: h.moments[i]})
		}
	}
	return picture
}

// layersOf returns the common part of the layers' names, with * for the differing part, and the differing part of each
// name, such as "layer 1, ". If all names are equal, rest is empty.
func layersOf(names []string) (common string, rest []string) {
	first := strings.Split(names[0], ".")
	from, to := 0, 0 // equal parts at the beginning and at the end
	same := func(at func(parts []string) string) bool {
		return !slices.ContainsFunc(names, func(name string) bool {
			parts := strings.Split(name, ".")
			return len(parts) != len(first) || at(parts) != at(first)
		})
	}
	for from < len(first) && same(func(parts []string) string { return parts[from] }) {
		from++
	}
	if from == len(first) {
		return names[0], make([]string, len(names))
	}
	for same(func(parts []string) string { return parts[len(parts)-1-to] }) {
		to++
	}
	for _, name := range names {
		parts := strings.Split(name, ".")
		text := strings.Join(parts[from:max(len(parts)-to, from)], ".") + ", "
		if n, err := strconv.Atoi(strings.TrimSuffix(text, ", ")); err == nil {
			text = fmt.Sprintf("layer %d, ", n)
		}
		rest = append(rest, text)
	}
	return strings.Join(append(append(slices.Clone(first[:from]), "*"), first[len(first)-to:]...), "."), rest
}

// probeHeads returns the heads that changed most among the weights that a pattern matches, in the order of the layers.
func probeHeads(w *record.Recording, pattern string) (all []probeHead, err error) {
	for name := range w.Probe {
		if ok, _ := path.Match(pattern, name); ok {
			heads, err := headsOf(w, name)
			if err != nil {
				return nil, err
			}
			all = append(all, heads...)
		}
	}
	order := func(a, b probeHead) int {
		return cmp.Or(cmp.Compare(a.layer, b.layer), cmp.Compare(a.name, b.name), cmp.Compare(a.head, b.head))
	}
	slices.SortFunc(all, func(a, b probeHead) int { return cmp.Or(cmp.Compare(b.moved, a.moved), order(a, b)) })
	all = all[:min(len(all), drawnHeads)]
	slices.SortFunc(all, order)
	return all, nil
}

// headsOf returns the heads of a probe's weights (M, [H,] T, S). For a long text the weights are those of its end, or
// of its beginning if no query sees a later key.
func headsOf(w *record.Recording, name string) (all []probeHead, err error) {
	about, err := text.ReadWeightTexts(w.Notes[name], w.Probe[name].Shape()[1:])
	if err != nil {
		return nil, fmt.Errorf("note %.100q: %w", name, err)
	}
	layer := 0
	if len(w.Records) > 0 {
		layer = slices.IndexFunc(w.Records[0].Params,
			func(p record.Param) bool { return strings.HasPrefix(p.Name, name+".") })
	}
	t, s := len(about.Queries), len(about.Keys)
	weights := w.Probe[name].Float32s()
	heads := len(weights) / len(w.Steps) / (t * s)
	row, col, rows, cols := max(t-drawnTokens, 0), max(s-drawnTokens, 0), t, s
	if about.Causal {
		row, col, rows, cols = 0, 0, min(t, drawnCausal), min(s, drawnCausal)
	}
	shown := text.WeightTexts{Queries: about.Queries[row:rows], Keys: about.Keys[col:cols], Causal: about.Causal}
	for h := range heads {
		head := probeHead{name: name, layer: layer, head: h, text: shown}
		for m := range w.Steps {
			var values []float64
			for q := row; q < rows; q++ {
				for k := col; k < cols; k++ {
					v := float64(weights[((m*heads+h)*t+q)*s+k])
					if about.Causal && k > q {
						v = math.NaN()
					}
					values = append(values, v)
				}
			}
			head.moments = append(head.moments, values)
		}
		for i, v := range head.moments[len(w.Steps)-1] {
			if d := math.Abs(v - head.moments[0][i]); !math.IsNaN(d) {
				head.moved += d
			}
		}
		all = append(all, head)
	}
	return all, nil
}
