package why

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/view/serve"
	"attention/train/tasks/reversal"
)

// show serves the page of the kept models until the context ends.
func show(ctx context.Context, page serve.Flags, out, notes io.Writer) error {
	models, r, err := readRivals(kept)
	if err != nil {
		return fmt.Errorf("--view: the models of the program: %w", err)
	}
	var c serve.Config
	for i, m := range models {
		writer, err := reversal.NewWriter(m.Model)
		if err != nil {
			return err
		}
		of := r.Models[i]
		c.Rivals = append(c.Rivals, serve.Rival{Name: of.Name, Parameters: of.Parameters, Exact: of.Exact[0],
			Writer: writer})
	}
	return page.Present(ctx, c, out, notes)
}
