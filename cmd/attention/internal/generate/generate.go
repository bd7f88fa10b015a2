// Package generate is the command attention generate, which continues a text.
package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"

	"github.com/spf13/cobra"
)

// command holds the flags of attention generate.
type command struct {
	models.SamplingOptions
	promptFile      string
	prompts, stop   []string
	samples, tokens int
	weights         string
	stats           bool
	given           []string // texts to continue
}

// New returns the command attention generate.
func New() *cobra.Command {
	var c command
	cmd := &cobra.Command{
		Use:                   "generate [--model DIR] --prompt TEXT",
		Short:                 "Continue a text with a trained or a published model",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.run(cmd.Context(), term.Raw(cmd.OutOrStdout()), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	c.DirFlag(f)
	f.StringArrayVar(&c.prompts, "prompt", nil, "`text` to continue; may be given more than once")
	f.StringVar(&c.promptFile, "prompt-file", "", "`file` with the text to continue; - is the standard input")
	f.IntVar(&c.samples, "samples", 1, "number of times to continue each text, with the seeds --seed, --seed + 1, …")
	f.IntVar(&c.tokens, "tokens", 100, "largest number of tokens to add")
	c.SamplingFlags(f)
	f.StringArrayVar(&c.stop, "stop", nil, "`text` to stop before; may be given more than once")
	f.StringVar(&c.weights, "weights", "",
		"write the attention weights of every layer over prompt and text to this safetensors `file`")
	f.BoolVar(&c.stats, "stats", false, "print times and memory to the standard error")
	return cmd
}

func (c *command) validate() error {
	switch {
	case strings.Join(c.prompts, "") != "" && c.promptFile != "":
		return errors.New("--prompt-file: got a file besides --prompt, want one of them")
	case c.samples < 1 || c.samples > maxTexts || c.samples*len(c.prompts) > maxTexts:
		return fmt.Errorf("--samples: got %d of %d prompts, want 1 to %d texts", c.samples,
			max(1, len(c.prompts)), maxTexts)
	case c.weights != "" && c.samples*len(c.prompts) > 1:
		return errors.New("--weights: got several texts, want one")
	case c.tokens < 1:
		return fmt.Errorf("--tokens: got %d, want at least 1", c.tokens)
	case slices.Contains(c.stop, ""):
		return errors.New("--stop: got nothing, want at least one character")
	}
	return c.Validate()
}

// run generates the text.
func (c *command) run(ctx context.Context, out, notes io.Writer) error {
	if err := c.validate(); err != nil {
		return err
	}
	began := program.Now()
	m, err := c.Open(notes, settings.GPTModel, settings.DecoderModel, settings.LayerModel)
	if err != nil {
		return err
	}
	prompts, err := c.promptIDs(m)
	if err != nil {
		return err
	}
	for _, ids := range prompts {
		if most := cmp.Or(c.Sampling.Capacity, m.Model.Context()); len(ids) > most {
			program.Note(notes, "the prompt has %d tokens, the model's window %d: "+
				"it sees only the end of the prompt", len(ids), most)
		}
	}
	g, all, err := c.newTexts(m, prompts)
	if err != nil {
		return err
	}
	stats := stats{loading: program.Since(began)}
	texts, err := c.drawAll(ctx, g, m, all, out, &stats)
	if len(all) > 1 {
		err = cmp.Or(err, c.printAll(out, texts))
	} else {
		err = cmp.Or(err, printText(out, "\n"))
	}
	if c.stats {
		stats.memory = g.Memory()
		stats.print(notes)
	}
	switch {
	case errors.Is(err, syscall.EPIPE): // the reader is gone
		return nil
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return term.Interrupted(fmt.Errorf("stopped after %d of %d tokens", stats.tokens, c.tokens*len(all)))
	case err == nil && c.weights != "":
		if err := writeWeights(ctx, c.weights, m, texts[0].ids); err != nil {
			return fmt.Errorf("--weights: %w", err)
		}
	}
	return err
}

// promptIDs returns the tokens of the texts to continue.
func (c *command) promptIDs(m *models.OpenModel) (all [][]int, err error) {
	flag := "--prompt"
	c.given = c.prompts
	if c.promptFile != "" {
		flag = "--prompt-file"
		content, err := settings.ReadFile(flag, c.promptFile)
		if err != nil {
			return nil, fmt.Errorf("--prompt-file: %w", err)
		}
		c.given = []string{string(content)}
	}
	if len(c.given) == 0 {
		c.given = []string{""}
	}
	for _, text := range c.given {
		ids, err := promptIDs(m, flag, text)
		if err != nil {
			return nil, err
		}
		all = append(all, ids)
	}
	return all, nil
}

// promptIDs returns the tokens of a text to continue. For an empty prompt a model needs an end-of-text token, which
// begins a new text.
func promptIDs(m *models.OpenModel, flag, text string) ([]int, error) {
	ids, err := m.Encode(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", flag, err)
	case len(ids) == 0:
		return nil, fmt.Errorf("%s: got no text, want some to continue: the model has no token to begin with", flag)
	}
	if least := m.Model.Context(); !m.Model.Causal() && len(ids) < least {
		return nil, fmt.Errorf("%s: got %d tokens, want at least %d: the model continues whole windows only",
			flag, len(ids), least)
	}
	return ids, nil
}
