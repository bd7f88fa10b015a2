package generate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/layers/generate"
	"attention/train/text"
)

// maxTexts is how many texts may be continued at once.
const maxTexts = 1024

// newTexts returns a generator that continues each prompt c.samples times, and the prompts of its texts.
func (c *command) newTexts(m *models.OpenModel, prompts [][]int) (texts *generate.Batch, all [][]int, err error) {
	longest := 0
	for _, ids := range prompts {
		for range c.samples {
			all = append(all, ids)
		}
		longest = max(longest, len(ids))
	}
	if len(all) == 1 {
		g, err := models.NewGenerator(m.Model, c.Sampling, longest+c.tokens)
		if err != nil {
			return nil, nil, models.NamedSampling(err)
		}
		return g.Batch(), all, nil
	}
	g, err := models.NewBatch(m.Model, len(all), c.Sampling, longest+c.tokens)
	if err != nil {
		if named := models.NamedSampling(err); named != err {
			return nil, nil, named
		}
		return nil, nil, fmt.Errorf("--samples: %w", err)
	}
	return g, all, nil
}

// drawAll reads the prompts and adds tokens to their texts until each has ended. A single text is written to out, after
// its prompt; several are kept in memory.
func (c *command) drawAll(
	ctx context.Context, d *generate.Batch, m *models.OpenModel, prompts [][]int, out io.Writer, stats *stats,
) (texts []*continuation, err error) {
	if len(prompts) == 1 {
		if err := printText(out, c.given[0]); err != nil {
			return nil, err
		}
	}
	began := program.Now()
	if err := d.Prompt(ctx, prompts); err != nil {
		return nil, err
	}
	stats.reading, began = program.Since(began), program.Now()
	defer func() { stats.writing = program.Since(began) }()
	for _, ids := range prompts {
		if len(prompts) > 1 {
			out = new(bytes.Buffer)
		}
		w := &continuation{decoder: text.NewDecoder(m.Tokenizer), stop: generate.NewStops(c.stop...), out: out,
			ids: slices.Clone(ids)}
		if err := w.decoder.Follow(ids); err != nil {
			return nil, err
		}
		texts = append(texts, w)
		stats.prompt += len(ids)
	}
	err = c.draw(ctx, d, append(m.Ends[:len(m.Ends):len(m.Ends)], m.EndOfText), texts, stats)
	for _, w := range texts {
		if endErr := w.end(); err == nil {
			err = endErr
		}
	}
	return texts, err
}

// draw draws tokens and writes the characters that they complete. A text ends before an id in ends and before a stop
// text.
func (c *command) draw(ctx context.Context, d *generate.Batch, ends []int, texts []*continuation, stats *stats) error {
	left := len(texts)
	for n := 0; n < c.tokens && left > 0; n++ {
		ids, err := d.Next(ctx)
		if err != nil {
			return err
		}
		for i, id := range ids {
			if id < 0 {
				continue
			}
			end := slices.Contains(ends, id)
			if !end {
				stats.tokens++
				if err := texts[i].add(id); err != nil {
					return err
				}
			}
			if end || texts[i].stop.Stopped() {
				d.Stop(i)
				left--
			}
		}
	}
	return nil
}

// printAll prints texts that are in memory, each under a line with the numbers of its prompt and sample.
func (c *command) printAll(out io.Writer, texts []*continuation) error {
	for i, text := range texts {
		title := fmt.Sprintf("sample %d", i%c.samples+1)
		if c.samples == 1 {
			title = fmt.Sprintf("prompt %d", i+1)
		} else if len(c.prompts) > 1 {
			title = fmt.Sprintf("prompt %d, %s", i/c.samples+1, title)
		}
		if err := printText(out, fmt.Sprintf("--- %s\n%s%s\n", title, c.given[i/c.samples], text.out)); err != nil {
			return err
		}
	}
	return nil
}
