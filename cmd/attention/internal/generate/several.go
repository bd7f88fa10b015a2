package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/term"
	"attention/layers/generate"
	"attention/train/text"
)

// maxTexts is how many texts may be continued at once.
const maxTexts = 1024

// several continues each prompt c.samples times, all at once, and prints the texts one after the other.
func (c *command) several(
	ctx context.Context, out, notes io.Writer, m *run.OpenModel, prompts [][]int, loading time.Duration,
) error {
	var all [][]int
	stats, longest := stats{loading: loading}, 0
	for _, ids := range prompts {
		for range c.samples {
			all = append(all, ids)
			stats.prompt += len(ids)
		}
		longest = max(longest, len(ids))
	}
	g, err := run.NewBatch(m.Model, len(all), c.sampling, longest+c.tokens)
	if err != nil {
		return fmt.Errorf("--samples: %w", err)
	}
	began := program.Now()
	if err = g.Prompt(ctx, all); err == nil {
		stats.reading, began = program.Since(began), program.Now()
	}
	texts := make([]*bytes.Buffer, len(all))
	if err == nil {
		err = c.continueAll(ctx, g, m, texts, &stats)
		stats.writing = program.Since(began)
	}
	if printErr := c.printAll(out, texts); err == nil {
		err = printErr
	}
	if c.stats {
		stats.memory = g.Memory()
		stats.print(notes)
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return term.Interrupted(fmt.Errorf("generate: stopped after %d of %d tokens", stats.tokens, c.tokens*len(all)))
	}
	return err
}

// continueAll adds tokens to the texts until each has ended.
func (c *command) continueAll(
	ctx context.Context, g *generate.Batch, m *run.OpenModel, texts []*bytes.Buffer, stats *stats,
) error {
	all := make([]*continuation, len(texts))
	for i := range all {
		texts[i] = new(bytes.Buffer)
		all[i] = &continuation{decoder: text.NewDecoder(m.Tokenizer), stop: stopper{stops: c.stop}, out: texts[i]}
	}
	defer func() {
		for _, w := range all {
			w.end() // into memory: cannot fail
		}
	}()
	left := len(all)
	for n := 0; n < c.tokens && left > 0; n++ {
		ids, err := g.Next(ctx)
		if err != nil {
			return err
		}
		for i, id := range ids {
			if id < 0 {
				continue
			}
			if id != m.EndOfText {
				stats.tokens++
				if err := all[i].add(id); err != nil {
					return err
				}
			}
			if id == m.EndOfText || all[i].stop.stopped {
				g.Stop(i)
				left--
			}
		}
	}
	return nil
}

// printAll prints the texts, each under a line that tells its prompt and its sample.
func (c *command) printAll(out io.Writer, texts []*bytes.Buffer) error {
	for i, text := range texts {
		if text == nil {
			continue
		}
		title := fmt.Sprintf("sample %d", i%c.samples+1)
		if c.samples == 1 {
			title = fmt.Sprintf("prompt %d", i+1)
		} else if len(c.prompts) > 1 {
			title = fmt.Sprintf("prompt %d, %s", i/c.samples+1, title)
		}
		if _, err := fmt.Fprintf(out, "--- %s\n%s\n", title, text); err != nil {
			return fmt.Errorf("generate: printing: %w", err)
		}
	}
	return nil
}
