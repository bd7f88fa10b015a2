// Package view is the command attention view, which shows a model's attention in the browser.
package view

import (
	"context"
	"errors"
	"fmt"
	"io"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/cmd/attention/internal/view/examples"
	"attention/cmd/attention/internal/view/follow"
	"attention/cmd/attention/internal/view/forward"
	"attention/cmd/attention/internal/view/serve"
	"attention/internal/folder"
	"attention/internal/oneline"

	"github.com/spf13/cobra"
)

const help = `Show a model's attention in the browser: every head of every layer, on your
text. The page is part of the program: no request leaves this machine.

MODEL: --model takes every model that attention generate takes, a run of
attention translate, an encoder such as BERT, or a checkpoint's file in a run's
folder. For a run, the page also shows the training. A second --model is
compared with the first, and a run with its checkpoints. Without --model, --run
and --chapter it shows the newest run in the folder runs or, if there is none,
two models that are part of the program: one writes dates, and in the other a
name comes back.

TEXT: --text is the text that the model reads. A model of attention translate
reads a date; a second line is the beginning of the translation, and the model
writes the rest.

RUN: --run DIR shows the training of a run, also while another program trains
it. It only reads the run's folder. The largest scores of the heads are recorded
by attention train --head-stats. For a folder of runs, the page lists them, with
the losses of several in one chart, and opens any of them.

CHAPTER: --chapter shows the steps of attention chapter's sections as matrices,
on the words of --text, which the page can change. Each number shows its
formula. Some have a slider; the page computes everything that depends on it.

ADDRESS: --addr is the address to serve at, by default a free port of this
machine. The URL holds a random token; requests without it are refused. --open
opens it in the browser. Ctrl-C ends the program. attention train --view serves
the page of a run as part of the run.

EXPORT: --export FILE writes one HTML file that works from the disk, without the
program: all panels, up to 50 MB of numbers. Another text and changes of the
model need the program. If the numbers do not fit, the least telling heads are
left out, and the page says so. The sliders of --chapter work in the file. "Save
page" on the page writes such a file with the text and the changes that it
shows.`

const example = `  attention view --model runs/first --text "It is the attention"
  attention view --model gpt2 --text-file question.txt --addr 127.0.0.1:8080
  attention view --run runs/first
  attention view --chapter --text "the cat sat on the mat"
  attention view --model runs/first --text "It is" --export page.html`

// command holds the flags of attention view.
type command struct {
	models         []string
	source         models.Source // of each model, except its folder
	runDir         string
	text, textFile string
	export         string
	page           serve.Flags
	chapter        bool
	remove         func() error // removes the unpacked examples; nil without any
}

// New returns the command attention view.
func New() *cobra.Command {
	var c command
	cmd := &cobra.Command{
		Use:                   "view [--model DIR | --run DIR | --chapter]",
		Short:                 "Show a model's attention in the browser",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&c.models, "model", nil, "`folder` of the model (default: that of the newest run in runs)")
	c.source.Flags(f)
	f.StringVar(&c.runDir, "run", "", "`folder` of a run, whose training is shown, also while it trains, or of runs")
	f.BoolVar(&c.chapter, "chapter", false, "show the steps of attention chapter's sections")
	f.StringVar(&c.text, "text", "", "`text` to look at")
	f.StringVar(&c.textFile, "text-file", "", "`file` with the text to look at; - is the standard input")
	c.page.Add(f, "")
	f.StringVar(&c.export, "export", "", "write the page with its numbers to this HTML `file` instead of serving it")
	return cmd
}

func (c *command) validate() error {
	switch {
	case c.text != "" && c.textFile != "":
		return errors.New("--text-file: got a file besides --text, want one of them")
	case len(c.models) != 1 && c.source != (models.Source{}):
		return fmt.Errorf("--base, --adapter: got one with %d times --model, want --model once; an adapter's folder can be "+
			"the --model, too", len(c.models))
	case c.page.Open && c.export != "":
		return errors.New("--open: got it besides --export, which serves no page, want one of them")
	}
	return nil
}

// run serves the page until the context ends.
func (c *command) run(ctx context.Context, out, notes io.Writer) (err error) {
	if err := c.validate(); err != nil {
		return err
	}
	defer func() {
		if c.remove != nil {
			err = oneline.Join(err, c.remove())
		}
	}()
	config := serve.Config{Text: c.text}
	if c.textFile != "" {
		content, err := settings.ReadFile("--text-file", c.textFile)
		if err != nil {
			return fmt.Errorf("--text-file: %w", err)
		}
		config.Text = string(content)
	}
	if config.Chapter = c.chapter; c.chapter && config.Text != "" {
		if err := forward.CheckSentence(config.Text); err != nil {
			return fmt.Errorf("--text: %w", err)
		}
	}
	if err := c.read(&config, notes); err != nil {
		return err
	}
	if c.export != "" {
		return term.Stopped(ctx, c.write(ctx, config, notes))
	}
	return c.page.Present(ctx, config, out, notes)
}

// read opens the models and the run.
func (c *command) read(config *serve.Config, notes io.Writer) error {
	config.Open = c.openRun
	if c.runDir != "" {
		if err := c.follow(config); err != nil {
			return fmt.Errorf("--run: %w", err)
		}
	}
	if len(c.models) == 0 && c.runDir == "" && !c.chapter {
		dir, err := models.Newest(notes, nil, settings.GPTModel, settings.DecoderModel, settings.LayerModel, settings.DatesModel)
		if err != nil && config.Text == "" && c.export == "" {
			return c.openExamples(config)
		}
		if err != nil {
			return fmt.Errorf("--model: %w; or give --run or --chapter", err)
		}
		c.models = []string{dir}
		if config.Folder, err = follow.OpenFolder(models.Runs); err != nil {
			return fmt.Errorf("--run: %w", err)
		}
	}
	dirs := c.models
	if len(dirs) == 0 && config.Run != nil {
		dirs = []string{c.runDir}
	}
	var checkpoints []*forward.Model
	for _, dir := range dirs {
		from := c.source
		from.Dir = dir
		m, err := forward.OpenFrom(from)
		if err != nil && len(c.models) == 0 {
			program.Note(notes, "--run: no model is shown: %v", errors.Unwrap(err)) // without its flag
			return nil
		}
		if err != nil {
			if _, notRun := follow.Open(dir); notRun == nil {
				return fmt.Errorf("%w; --run %s shows its training", err, dir)
			}
			return err
		}
		program.Notes(notes, m.Notes)
		config.Models = append(config.Models, m)
		checkpoints = append(checkpoints, m.Checkpoints(from)...)
	}
	config.Models = append(config.Models, checkpoints...)
	if config.Run == nil && len(c.models) > 0 {
		if r, err := follow.Open(c.models[0]); err == nil {
			config.Run = r // the model is a run's
		}
	}
	return nil
}

// openExamples opens the models that are part of the program.
func (c *command) openExamples(config *serve.Config) error {
	all, remove, err := examples.Unpack()
	if err != nil {
		return err
	}
	c.remove = remove
	for _, e := range all {
		m, err := forward.Open(e.Folder)
		if err != nil {
			return err
		}
		m.Name, m.Example, m.IsSample = e.Title, e.Text, true
		config.Models = append(config.Models, m)
	}
	return nil
}

// follow opens the run of --run, or the runs in its folder.
func (c *command) follow(config *serve.Config) error {
	r, err := follow.Open(c.runDir)
	if err == nil {
		config.Run = r
		return nil
	}
	all, none := follow.OpenFolder(c.runDir)
	if none != nil {
		return err
	}
	config.Folder = all
	return nil
}

// openRun opens a run of the folder that is shown.
func (c *command) openRun(path string) (serve.Config, error) {
	config := serve.Config{Text: c.text}
	one := command{runDir: path}
	return config, one.read(&config, io.Discard)
}

// write writes the page to --export's file.
func (c *command) write(ctx context.Context, config serve.Config, notes io.Writer) error {
	if len(config.Models) > 0 {
		config.Folder = nil // the page is that of a model
	}
	var left []string
	err := folder.WriteFile(c.export, func(w io.Writer) (err error) {
		left, err = serve.Export(ctx, config, w)
		return err
	})
	if err != nil {
		return fmt.Errorf("--export: %w", err)
	}
	if n := len(left); n > 0 {
		program.Note(notes, "the page would be too large: %d parts are left out, from %s on", n, left[0])
	}
	return nil
}
