package why

import (
	"context"
	"fmt"
	"io"
	"strings"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
	"attention/cmd/attention/internal/trials"
)

// comparison is one run of attention why.
type comparison struct {
	*trials.Trials
	options options
	report  *report
}

// compare runs attention why.
func compare(ctx context.Context, w io.Writer, command string, o options) error {
	all, err := o.Flags.Open(term.NewOutput(w), "why")
	if err != nil {
		return err
	}
	defer all.Dir.Close()
	c := &comparison{Trials: all, options: o}
	c.report = &report{Command: command, Version: program.Version(), Seeds: c.Seeds}
	for _, t := range []struct {
		task
		into **taskReport
	}{{reverse(), &c.report.Reverse}, {picture(), &c.report.Picture}} {
		if o.task != "" && o.task != t.name {
			continue
		}
		if c.Files != nil {
			fmt.Fprintln(c.Out)
		}
		if *t.into, err = c.run(ctx, t.task); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if err := c.WriteReport(c.report); err != nil {
		return err
	}
	files := strings.SplitAfter(strings.Join(append(c.Files, "report.json"), ","), ",")
	fmt.Fprintf(c.Out, "\nIn %s:\n%s", c.Dir.Path(""), term.Fill("  ", files...))
	return c.Out.Err()
}
