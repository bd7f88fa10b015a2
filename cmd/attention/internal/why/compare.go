package why

import (
	"context"
	"fmt"
	"io"
	"strings"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
	"attention/internal/folder"
)

// comparison is one run of attention why.
type comparison struct {
	options options
	seeds   []int64
	out     *term.Output
	dir     *folder.Dir
	report  *report
	files   []string // that were written
}

// compare runs attention why.
func compare(ctx context.Context, w io.Writer, command string, o options) error {
	c := &comparison{options: o, seeds: o.All(), out: term.NewOutput(w)}
	c.report = &report{Command: command, Version: program.Version(), Seeds: c.seeds}
	var err error
	if c.dir, err = folder.MakeEmpty(o.Out, "why"); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer c.dir.Close()
	for _, t := range []struct {
		task
		into **taskReport
	}{{reverse(), &c.report.Reverse}, {picture(), &c.report.Picture}} {
		if o.task != "" && o.task != t.name {
			continue
		}
		if c.files != nil {
			fmt.Fprintln(c.out)
		}
		if *t.into, err = c.run(ctx, t.task); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if err := c.report.write(c.dir); err != nil {
		return err
	}
	files := strings.SplitAfter(strings.Join(append(c.files, "report.json"), ","), ",")
	fmt.Fprintf(c.out, "\nIn %s:\n%s", c.dir.Path(""), term.Fill("  ", files...))
	return c.out.Err()
}

// draw writes a picture into the folder.
func (c *comparison) draw(name string, write func(io.Writer) error) error {
	if err := c.dir.Write(name, write); err != nil {
		return err
	}
	c.files = append(c.files, name)
	return nil
}
