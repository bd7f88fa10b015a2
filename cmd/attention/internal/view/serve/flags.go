package serve

import (
	"attention/cmd/attention/internal/program"
	"fmt"
	"io"

	"github.com/cli/browser"
	"github.com/spf13/pflag"
)

// Flags are the flags of a page.
type Flags struct {
	View bool // whether the command serves its page; for a command that also does something else
	Addr string
	Open bool
}

// Add defines the flags. view is the usage of --view; a command that always serves its page has none.
func (f *Flags) Add(to *pflag.FlagSet, view string) {
	of := ""
	if view != "" {
		of = " of --view"
		to.BoolVar(&f.View, "view", false, view)
	}
	to.StringVar(&f.Addr, "addr", "127.0.0.1:0", "`address` to serve the page"+of+" at; port 0 is a free one")
	to.BoolVar(&f.Open, "open", false, "open the page"+of+" in the browser")
}

// Validate returns an error for a flag of the page on the command line without --view.
func (f *Flags) Validate(given *pflag.FlagSet) error {
	for _, name := range []string{"addr", "open"} {
		if !f.View && given.Changed(name) {
			return fmt.Errorf("--%s: got it without --view, want both", name)
		}
	}
	return nil
}

// OpenBrowser opens a page in the system's browser if the user asked for it, without waiting. If this fails, it prints
// a note with the reason.
func (f *Flags) OpenBrowser(url string, notes io.Writer) {
	if !f.Open {
		return
	}
	browser.Stdout, browser.Stderr = io.Discard, io.Discard
	go func() {
		if err := browser.OpenURL(url); err != nil {
			program.Note(notes, "--open: %v, want a browser; the page is at the URL all the same", err)
		}
	}()
}
