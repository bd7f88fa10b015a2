package why

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/view/serve"
	"attention/train/tasks/reversal"

	"github.com/spf13/pflag"
)

// page holds the flags of --view.
type page struct {
	isShown, opens bool
	addr           string
}

// validate returns an error for flags that have no meaning together.
func (p page) validate(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		isOfPage := f.Name == "view" || f.Name == "addr" || f.Name == "open"
		switch {
		case err != nil:
		case p.isShown && !isOfPage:
			err = fmt.Errorf("--%s: got it besides --view, which trains nothing, want one of them", f.Name)
		case !p.isShown && isOfPage && f.Name != "view":
			err = fmt.Errorf("--%s: got it without --view, want both", f.Name)
		}
	})
	return err
}

// show serves the page of the kept models until the context ends.
func (p page) show(ctx context.Context, out, notes io.Writer) error {
	models, r, err := readRivals(kept)
	if err != nil {
		return fmt.Errorf("--view: the models of the program: %w", err)
	}
	c := serve.Config{Addr: p.addr}
	for i, m := range models {
		writer, err := reversal.NewWriter(m.Model)
		if err != nil {
			return err
		}
		of := r.Models[i]
		c.Rivals = append(c.Rivals, serve.Rival{Name: of.Name, Parameters: of.Parameters, Exact: of.Exact[0],
			Writer: writer})
	}
	s, err := serve.New(c)
	if err != nil {
		return err
	}
	return s.Present(ctx, p.opens, out, notes)
}
