package why

import (
	"context"
	"fmt"

	"attention/cmd/attention/internal/plot"
	"attention/internal/dense"
)

// printLooks prints the means over the seeds, and how often each head of the first seed looks at the right tile.
func (c *comparison) printLooks(r *taskReport) {
	if len(c.seeds) > 1 {
		fmt.Fprintln(c.out)
		for _, m := range r.Models {
			fmt.Fprintf(c.out, "%6s  %-33s", "mean", m.Name)
			for _, shares := range [][]float64{m.Digits, m.Arrows, m.Colours} {
				mean, _, _ := spread(shares)
				fmt.Fprintf(c.out, " %8.1f", 100*mean)
			}
			fmt.Fprintln(c.out)
		}
	}
	fmt.Fprintf(c.out, "\nTrained in %.0f s. Guessing gives %d. Of %d new pictures of seed %d, how often a\n"+
		"head looks most at the tile that is asked for, %%:\n\n%-16s", r.Seconds, 100/digits, r.Pictures, c.seeds[0],
		"block, head")
	looks := r.Models[0].Looks[0]
	for _, l := range looks {
		fmt.Fprintf(c.out, "%6d,%d", l.Block, l.Head)
	}
	fmt.Fprintf(c.out, "\n%-16s", "arrows")
	for _, l := range looks {
		fmt.Fprintf(c.out, "%8.0f", 100*l.Arrows)
	}
	fmt.Fprintf(c.out, "\n%-16s", "colours")
	for _, l := range looks {
		fmt.Fprintf(c.out, "%8.0f", 100*l.Colours)
	}
	fmt.Fprintln(c.out)
}

// drawLooks draws a new picture, with lines from each asker to the tiles at which it looks.
func (c *comparison) drawLooks(ctx context.Context, m eye) error {
	seed := c.seeds[0]
	e, err := newExam(m, 1)
	if err != nil {
		return err
	}
	b := newTileBatch(1, streamed(seed, shownStream))
	seen, err := e.take(ctx, b)
	if err != nil {
		return err
	}
	picture := b.pictures[0]
	looks := plot.Looks{Title: fmt.Sprintf("where the tiles that ask look, seed %d", seed), Picture: drawTiles(picture),
		Columns: side, Rows: side}
	for block := range eyeBlocks {
		weights := dense.Float64s(seen.weights[block])
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
	c.printAnswers(picture, seen.answers)
	return c.draw("picture.png", looks.Write)
}

// printAnswers prints the questions of the drawn picture and the model's answers.
func (c *comparison) printAnswers(picture []tile, answers []int) {
	fmt.Fprintf(c.out, "\nIn picture.png, with rows and columns from 1:\n\n%-16s%-18s%-14s%-8s%s\n",
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
		fmt.Fprintf(c.out, "%-16s%-18s%-14s%-8d%d\n", place(at), shows, place(t.answer), picture[t.answer].digit,
			answers[at])
	}
}
