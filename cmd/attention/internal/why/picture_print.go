package why

import (
	"context"
	"fmt"
	"slices"

	"attention/cmd/attention/internal/plot"
	"attention/internal/dense"
	"attention/train/tasks/tiles"
)

// printFocus prints the means over the seeds, and how often each head of the first seed has its largest weight on the
// right tile.
func (c *comparison) printFocus(r *taskReport) {
	if len(c.Seeds) > 1 {
		fmt.Fprintln(c.Out)
		for _, m := range r.Models {
			fmt.Fprintf(c.Out, "%6s  %-33s", "mean", m.Name)
			for _, shares := range [][]float64{m.Digits, m.Arrows, m.Colours} {
				mean, _, _ := spread(shares)
				fmt.Fprintf(c.Out, " %8.1f", 100*mean)
			}
			fmt.Fprintln(c.Out)
		}
	}
	fmt.Fprintf(c.Out, "\nTrained in %.0f s. Guessing gives %d. Of %d new pictures of seed %d, how often a\n"+
		"head looks most at the tile that is asked for, %%:\n\n", r.Seconds, 100/tiles.Digits, r.Pictures, c.Seeds[0])
	heads, arrows, colours := "block, head     ", "arrows          ", "colours         "
	for _, l := range r.Models[0].Focus[0] {
		heads += fmt.Sprintf("%6d,%d", l.Block, l.Head)
		arrows += fmt.Sprintf("%8.0f", 100*l.Arrows)
		colours += fmt.Sprintf("%8.0f", 100*l.Colours)
	}
	fmt.Fprintf(c.Out, "%s\n%s\n%s\n", heads, arrows, colours)
}

// drawFocus draws a new picture, with lines from each asking tile to the tiles that it attends to.
func (c *comparison) drawFocus(ctx context.Context, m eye) error {
	pictures := tiles.NewPictures(1, streamed(c.Seeds[0], shownStream))
	seen, err := m.Glance(ctx, pictures)
	if err != nil {
		return err
	}
	picture := pictures.Picture(0)
	grid := plot.FocusGrid{Title: fmt.Sprintf("where the tiles that ask look, seed %d", c.Seeds[0]),
		Picture: tiles.Draw(picture), Columns: tiles.Side, Rows: tiles.Side}
	for block, heads := range seen.Weights {
		h := 0
		for weights := range slices.Chunk(dense.Float64s(heads), tiles.Tiles*tiles.Tiles) {
			h++
			focus := plot.Focus{Title: fmt.Sprintf("block %d, head %d", block+1, h)}
			for at, t := range picture {
				if t.Kind != tiles.Digit {
					focus.From = append(focus.From, at)
					focus.Weights = append(focus.Weights, weights[at*tiles.Tiles:][:tiles.Tiles])
				}
			}
			grid.Heads = append(grid.Heads, focus)
		}
	}
	c.printAnswers(picture, seen.Answers)
	return c.Write("picture.png", grid.Write)
}

// printAnswers prints the questions of the drawn picture and the model's answers.
func (c *comparison) printAnswers(picture []tiles.Tile, answers []int) {
	const columns = "%-16s%-18s%-14s%-8v%v\n"
	fmt.Fprintf(c.Out, "\nIn picture.png, with rows and columns from 1:\n\n"+columns,
		"asker", "shows", "asks for", "digit", "answer")
	place := func(at int) string { return fmt.Sprintf("row %d, col %d", at/tiles.Side+1, at%tiles.Side+1) }
	for at, t := range picture {
		if t.Kind != tiles.Digit {
			fmt.Fprintf(c.Out, columns, place(at), t, place(t.Answer), picture[t.Answer].Digit, answers[at])
		}
	}
}
