package why

import (
	"fmt"

	"attention/cmd/attention/internal/plot"
	"attention/layers"
)

// printEye prints the row of a model.
func (c *comparison) printEye(r eyeResult) {
	loss, _, _ := spread(r.Loss)
	seconds, _, _ := spread(r.Seconds)
	fmt.Fprintf(c.out, "%-12s %10d %9.4f %9.1f", r.Name, r.Parameters, loss, seconds)
	for _, shares := range [][]float64{r.Digits, r.Arrows, r.Colours} {
		mean, _, _ := spread(shares)
		fmt.Fprintf(c.out, " %8.1f", 100*mean)
	}
	if len(c.seeds) > 1 {
		fmt.Fprintf(c.out, "\n%-42s", "  seeds")
		for _, shares := range [][]float64{r.Digits, r.Arrows, r.Colours} {
			_, least, most := spread(shares)
			fmt.Fprintf(c.out, " %8s", fmt.Sprintf("%.0f–%.0f", 100*least, 100*most))
		}
	}
	fmt.Fprintln(c.out)
}

// printLooks prints which heads of the first seed look where they have to.
func (c *comparison) printLooks(r eyeResult) {
	fmt.Fprintf(c.out, "\nGuessing gives %d. Of %d new pictures of seed %d, how often a head looks most at\n"+
		"the tile that is asked for, %%:\n\n%-16s", 100/digits, testPictures, c.seeds[0], "block, head")
	for _, l := range r.Looks[0] {
		fmt.Fprintf(c.out, "%6d,%d", l.Block, l.Head)
	}
	for _, row := range []struct {
		name string
		of   func(headLook) float64
	}{{"arrows", func(l headLook) float64 { return l.Arrows }},
		{"colours", func(l headLook) float64 { return l.Colours }}} {
		fmt.Fprintf(c.out, "\n%-16s", row.name)
		for _, l := range r.Looks[0] {
			fmt.Fprintf(c.out, "%8.0f", 100*row.of(l))
		}
	}
	fmt.Fprintln(c.out)
}

// drawLooks draws a new picture, and over it where each asker looks.
func (c *comparison) drawLooks(m *layers.ViT, seed int64) error {
	b := newTileBatch(1, streamed(seed, shownStream))
	if _, err := b.Next(); err != nil {
		return err
	}
	blocks, answers, err := weightsOfPicture(m, b)
	if err != nil {
		return err
	}
	picture := b.pictures[0]
	looks := plot.Looks{Title: fmt.Sprintf("where the tiles that ask look, seed %d", seed), Picture: drawTiles(picture),
		Columns: side, Rows: side}
	for block, weights := range blocks {
		for h := range eyeHeads {
			look := plot.Look{Title: fmt.Sprintf("block %d, head %d", block+1, h+1)}
			for at, t := range picture {
				if t.kind != digitTile {
					look.From = append(look.From, at)
					look.Weights = append(look.Weights, weights[(h*tiles+at)*tiles:][:tiles])
				}
			}
			looks.Looks = append(looks.Looks, look)
		}
	}
	c.printAnswers(picture, answers)
	return c.draw("picture.png", looks.Write)
}

// printAnswers prints what is asked in the drawn picture, and what the model answers.
func (c *comparison) printAnswers(picture []tile, answers []int) {
	fmt.Fprintf(&c.examples, "\nIn picture.png, with rows and columns from 1:\n\n%-16s%-18s%-14s%-8s%s\n",
		"asker", "shows", "asks for", "digit", "answer")
	place := func(at int) string { return fmt.Sprintf("row %d, col %d", at/side+1, at%side+1) }
	for at, t := range picture {
		shows := "an arrow " + arrows[t.arrow].name
		switch t.kind {
		case digitTile:
			continue
		case colourTile:
			shows = "? on " + tileColours[t.colour].name
		}
		fmt.Fprintf(&c.examples, "%-16s%-18s%-14s%-8d%d\n", place(at), shows, place(t.answer), picture[t.answer].digit,
			answers[at])
	}
}
