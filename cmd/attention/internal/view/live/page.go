package live

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/view/follow"
	"attention/cmd/attention/internal/view/forward"
	"attention/cmd/attention/internal/view/serve"
	"attention/train/text"

	"github.com/spf13/pflag"
)

// AddFlags defines the flags of the page.
func (p *Page) AddFlags(to *pflag.FlagSet) {
	p.flags.Add(to, "serve a page that shows the run, as attention view does, while it trains and afterwards")
}

// Shown is the model of a run that a page shows.
type Shown struct {
	Model     settings.Model
	Tokenizer text.Tokenizer
	Prompt    []int                             // ids of the initial text of the page
	Copy      func() (*models.OpenModel, error) // returns the model with a copy of the current weights
}

// Page is the page of --view. Without that flag it shows nothing.
type Page struct {
	flags  serve.Flags
	server *serve.Server // nil without --view
	Shown
	notes io.Writer
	live  *live
	end   func()     // ends serving
	ended chan error // nil before it serves
}

// Of makes the page show a model, and returns the page for the plan of the run; it returns nil without --view.
func (p *Page) Of(m Shown) session.Page {
	if p.Shown = m; p.server == nil {
		return nil
	}
	return p
}

// listen listens at the address of --addr, with --view.
func (p *Page) listen(flags *pflag.FlagSet, notes io.Writer) (err error) {
	if err := p.flags.Validate(flags); err != nil || !p.flags.View {
		return err
	}
	p.notes = notes
	p.server, err = serve.New(serve.Config{Addr: p.flags.Addr})
	return err
}

// URL returns the page's URL, with the panel that shows the training.
func (p *Page) URL() string { return p.server.URL + "#panel=training" }

// shows reports whether there is a page that shows a run.
func (p *Page) shows() bool { return p.ended != nil }

// Show begins to serve the run.
func (p *Page) Show(ctx context.Context, s *session.Session) error {
	followed, err := follow.Open(s.Folder.Path)
	if err != nil {
		return err
	}
	prompt, err := text.Whole(p.Tokenizer, p.Prompt)
	if err != nil {
		return err
	}
	p.live = newLive(s, p.Copy)
	p.server.Show(followed, prompt, forward.Live(models.Name(s.Folder.Path), p.Model, p.live.now))
	ctx, p.end = context.WithCancel(context.WithoutCancel(ctx)) // context that lasts until the model is saved
	p.ended = make(chan error, 1)
	go func() { p.ended <- p.server.Run(ctx) }()
	p.flags.OpenBrowser(p.URL(), p.notes)
	return nil
}

// Between gives the weights to the page if it waits for them. It is called between two steps.
func (p *Page) Between() { p.live.between() }

// TrainingDone lets the page copy the weights at any time. It is called when training is over and the weights no longer
// change.
func (p *Page) TrainingDone() { close(p.live.rests) }

// wait serves the page after the run until the context ends.
func (p *Page) wait(ctx context.Context) {
	if p.shows() {
		program.Note(p.notes, "the run is done; serving its page until Ctrl-C")
		<-ctx.Done()
	}
}

// Close sends the browsers the last state of the run and ends the page.
func (p *Page) Close() error {
	switch {
	case p.server == nil:
		return nil
	case !p.shows():
		return p.server.Close()
	}
	p.end()
	if err := <-p.ended; err != nil {
		return fmt.Errorf("--view: %w", err)
	}
	return nil
}
