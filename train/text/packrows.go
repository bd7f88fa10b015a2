package text

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"attention/train"

	"gorgonia.org/tensor"
)

// Reshape changes the source, before its first batch, to rows of another length, at least Summary's Longest, and to at
// most rows rows per batch, none of which is empty in the first epoch.
func (p *Packed) Reshape(batch, length int) error {
	c, s := &p.config, &p.summary
	c.Batch, c.Context = batch, length
	if err := c.Validate(); err != nil {
		return fmt.Errorf("text: packing: %w", err)
	}
	if length < s.Longest {
		return fmt.Errorf("text: packing: got rows of %d tokens, want at least the %d of an example", length, s.Longest)
	}
	p.arrange()
	c.Batch, s.Rows = min(batch, len(p.rows)), len(p.rows)
	s.Batches = (s.Rows + c.Batch - 1) / c.Batch
	s.Fill = float64(s.Tokens) / float64(s.Rows*length)
	p.all = train.Values{}
	for _, name := range []string{Inputs, Targets, Segments, Positions} {
		p.all[name] = tensor.New(tensor.Of(tensor.Int), tensor.WithShape(c.Batch, length))
	}
	if p.batch.Inputs = p.all; c.Alone {
		p.batch.Inputs = train.Values{Inputs: p.all[Inputs], Targets: p.all[Targets]}
	}
	return nil
}

// Config returns the shape of the rows and of a batch.
func (p *Packed) Config() PackConfig { return p.config }

// errNothingLeft returns the error about examples most of which are truncated before their first learned token.
func (p *Packed) errNothingLeft(ctx context.Context) error {
	s, frame := p.summary, ""
	if t := p.lessons.config.Template; t != nil { // an error in it is reported elsewhere
		c := p.lessons.config.Rendering
		c.AddGenerationPrompt = true
		rendered, _ := t.Render(ctx, []Message{{Role: "user", Content: "a"}}, c)
		ids, _ := p.lessons.encode(rendered)
		frame = fmt.Sprintf(": the template takes %d tokens beside a question", max(0, len(ids)-1))
	}
	return fmt.Errorf("text: packing: got %d of %d examples without a token to learn in their first %d tokens%s; "+
		"want longer rows or a shorter template", s.NothingLeft, s.NothingLeft+s.Examples, p.config.Context, frame)
}

// arrange packs the examples of the epoch into rows: the longest first, each into the row with the least room that has
// enough. The rows depend only on the number of the epoch and the seed.
func (p *Packed) arrange() {
	var order []int32
	for i, n := range p.lengths {
		if n > 0 {
			order = append(order, int32(i))
		}
	}
	random := rand.New(rand.NewPCG(p.config.Seed, p.epoch))
	shuffle := func(n int, swap func(i, j int)) {
		if p.config.Shuffle {
			random.Shuffle(n, swap)
		}
	}
	shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(p.lengths[b], p.lengths[a]) })
	if p.rows = nil; p.config.Alone {
		for _, i := range order {
			p.rows = append(p.rows, []int32{i})
		}
	} else {
		p.rows = packRows(order, p.lengths, p.config.Context)
	}
	shuffle(len(p.rows), func(i, j int) { p.rows[i], p.rows[j] = p.rows[j], p.rows[i] })
}

// packRows puts examples, the longest first, into as few rows of a length as it can.
func packRows(order, lengths []int32, length int) (rows [][]int32) {
	withRoom := make([][]int, length+1) // rows by the space left in them
	most := 0                           // the largest space left in any row
	for _, i := range order {
		n := int(lengths[i])
		room := n
		for room <= most && len(withRoom[room]) == 0 {
			room++
		}
		row := len(rows)
		if room <= most {
			last := len(withRoom[room]) - 1
			row, withRoom[room] = withRoom[room][last], withRoom[room][:last]
		} else {
			rows, room = append(rows, nil), length
		}
		rows[row] = append(rows[row], i)
		withRoom[room-n] = append(withRoom[room-n], row)
		most = max(most, room-n)
	}
	return rows
}
