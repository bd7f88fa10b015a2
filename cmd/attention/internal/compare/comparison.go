package compare

import (
	"context"
	"fmt"
	"io"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"
	"attention/cmd/attention/internal/trials"
	"attention/layers"
)

// comparison is one run of attention compare.
type comparison struct {
	goal
	*trials.Trials
	report  report
	configs []layers.DecoderConfig // of the models
	columns []column
	table   term.Table // of trainings
}

// compare trains a model with each attention from each seed and reports the results.
func compare(ctx context.Context, w io.Writer, command string, o options, g goal, chosen []variant) (err error) {
	c := &comparison{goal: g, columns: columns(g.level != "")}
	c.report = report{Command: command, Version: program.Version(), Goal: g.title, Steps: g.steps, Batch: g.batch,
		ContextLength: g.model.ContextLength, Level: g.level}
	for _, v := range chosen {
		if err := c.add(v); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	if c.Trials, err = o.Flags.Open(term.NewOutput(w), "compare"); err != nil {
		return err
	}
	defer c.Dir.Close()
	c.table = c.trainings()
	c.table.Head(c.Out)
	n := len(chosen)
	err = c.Each(ctx, n*len(c.Seeds), g.steps, 1, func(ctx context.Context, i int) (report func() error, err error) {
		r, seed := &c.report.Models[i%n], c.Seeds[i/n]
		learnt, err := g.learn(ctx, c.configs[i%n], seed, c.Step)
		if err != nil {
			return nil, fmt.Errorf("%s, seed %d: %w", r.Attention, seed, err)
		}
		return func() error {
			c.report.Seeds = c.Seeds[:1+i/n]
			r.add(learnt)
			c.printRow(fmt.Sprint(seed), r.Attention, r, func(values []float64) float64 { return values[i/n] })
			return c.WriteReport(c.report)
		}, nil
	})
	if err != nil {
		return err
	}
	c.printMeans()
	if err := c.Dir.Write("compare.png", c.report.page().Write); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "\nIn %s: compare.png, report.json\n", c.Dir.Path(""))
	return c.Out.Err()
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
