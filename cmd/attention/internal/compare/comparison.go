package compare

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
	"attention/internal/folder"
	"attention/layers"
)

// comparison is one run of attention compare.
type comparison struct {
	goal
	out     *term.Output
	dir     *folder.Dir
	report  report
	configs []layers.DecoderConfig // of the models
	columns []column
}

// compare trains a model with each attention from each seed, one after the other, and shows what they have learnt.
func compare(ctx context.Context, w io.Writer, command string, o options, g goal, chosen []variant) (err error) {
	c := &comparison{goal: g, out: term.NewOutput(w), columns: columns(g.level != "")}
	c.report = report{Command: command, Version: program.Version(), Goal: g.title, Steps: g.steps, Batch: g.batch,
		ContextLength: g.model.ContextLength, Level: g.level}
	for _, v := range chosen {
		if err := c.add(v); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	if c.dir, err = folder.MakeEmpty(o.Out, "compare"); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer c.dir.Close()
	c.printHead()
	bar := term.NewProgress(c.out, o.Seeds*len(chosen)*g.steps)
	for i, seed := range o.All() {
		c.report.Seeds = append(c.report.Seeds, seed)
		for j := range c.report.Models {
			r := &c.report.Models[j]
			learnt, err := g.learn(ctx, c.configs[j], seed, bar.Step)
			bar.Clear()
			if err != nil {
				return fmt.Errorf("%s, seed %d: %w", r.Attention, seed, err)
			}
			r.add(learnt)
			c.printRow(fmt.Sprint(seed), r.Attention, r, func(values []float64) float64 { return values[i] })
			if err := c.report.write(c.dir); err != nil {
				return err
			}
		}
	}
	c.printMeans()
	if err := c.dir.Write("compare.png", c.report.page().Write); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "\nIn %s: compare.png, report.json\n", c.dir.Path(""))
	return c.out.Err()
}

// add adds the model of a variant.
func (c *comparison) add(v variant) error {
	config, err := c.sized(v)
	if err != nil {
		return err
	}
	r := modelReport{Attention: v.name, DimFeedforward: config.Blocks[0].MLP.DimFeedforward}
	if r.Parameters, err = c.count(v, r.DimFeedforward); err != nil {
		return err
	}
	r.Token, r.Fixed, err = cacheSize(config, v.name == "window")
	c.configs, c.report.Models = append(c.configs, config), append(c.report.Models, r)
	return err
}
