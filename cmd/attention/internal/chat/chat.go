// Package chat is the command attention chat, a conversation with a model in the terminal.
package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/layers"
	"attention/layers/generate"
	"attention/train/text"

	"github.com/spf13/cobra"
)

// command holds the flags of attention chat.
type command struct {
	models.SamplingOptions
	system, template string
	tokens           int
	stats            bool
}

// New returns the command attention chat.
func New() *cobra.Command {
	var c command
	cmd := &cobra.Command{
		Use:                   "chat [--model DIR]",
		Short:                 "Talk with a model in the terminal",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := screen{out: term.NewOutput(term.Raw(cmd.OutOrStdout())), notes: cmd.ErrOrStderr()}
			return c.run(cmd.Context(), cmd.InOrStdin(), s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	c.DirFlag(f)
	f.StringVar(&c.system, "system", "", "`text` that tells the model how to answer")
	f.StringVar(&c.template, "template", "",
		"`form` of the talk: chatml, alpaca or a file with a template (default: the model's own)")
	f.IntVar(&c.tokens, "tokens", 512, "largest number of tokens of an answer")
	c.SamplingFlags(f)
	f.BoolVar(&c.stats, "stats", false, "print how many tokens each message took, and times, to the standard error")
	return cmd
}

// run answers messages until the input ends.
func (c *command) run(ctx context.Context, in io.Reader, s screen) error {
	if c.tokens < 1 {
		return fmt.Errorf("--tokens: got %d, want at least 1", c.tokens)
	}
	if err := c.Validate(); err != nil {
		return err
	}
	if c.template == "" {
		c.Accept = (*models.Inspection).CheckTalks
	}
	m, err := c.Open(s.notes, settings.GPTModel, settings.DecoderModel)
	if err != nil {
		return err
	}
	t, err := c.newTalk(ctx, m)
	if err != nil {
		return err
	}
	t.screen = s
	if f, ok := in.(*os.File); ok && term.IsTerminal(f) {
		t.interactive = true
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt)
		defer signal.Stop(interrupts)
		t.interrupts = interrupts
		// An interrupt ends the first context.
		talking, release := term.UntilSignal(context.WithoutCancel(ctx), syscall.SIGTERM)
		defer release()
		if err := ctx.Err(); err != nil { // a signal came while the model was opened
			return term.Stopped(ctx, err)
		}
		ctx = talking
	}
	if err := t.listen(ctx, in); !errors.Is(err, syscall.EPIPE) { // otherwise the reader is gone
		return term.Stopped(ctx, err)
	}
	return nil
}

// newTalk returns a talk with a model in which nothing has been said.
func (c *command) newTalk(ctx context.Context, m *models.OpenModel) (*talk, error) {
	decoder, ok := m.Model.Network.(*layers.Decoder)
	if !ok {
		return nil, fmt.Errorf("--model: %s: got a model of one attention layer, want a GPT or another decoder", c.Dir)
	}
	t := &talk{model: m, tokens: c.tokens, stats: c.stats, rendering: m.Rendering()}
	if c.system != "" {
		t.system = []text.Message{{Role: "system", Content: c.system}}
	}
	if err := c.openTemplate(ctx, t); err != nil {
		return nil, err
	}
	c.Sampling.Room = 1024
	var err error
	t.generator, err = generate.New(decoder, c.Sampling)
	t.capacity = cmp.Or(c.Sampling.Capacity, m.Model.Context())
	return t, models.NamedSampling(err)
}

// openTemplate sets the template of a conversation; the model must have its tokens.
func (c *command) openTemplate(ctx context.Context, t *talk) (err error) {
	if t.template = t.model.Template; t.template == nil || c.template != "" {
		var source string
		if source, err = text.ReadTemplate(c.template); err == nil {
			t.template, err = text.OpenTemplate(c.Dir, source, t.model.Tokenizer)
		}
	}
	if errors.Is(err, text.ErrNoTemplate) {
		return fmt.Errorf("--template: %s has no chat template, want chatml, alpaca or a file with one", c.Dir)
	}
	if err != nil {
		return fmt.Errorf("--template: %w", err)
	}
	t.ends, err = t.model.AnswerEnds(ctx, t.template)
	err = cmp.Or(t.template.CheckTokens(ctx, t.model.Tokenizer, t.rendering), err)
	if err != nil {
		return fmt.Errorf("--template: %w", err)
	}
	return t.findStop(ctx)
}
