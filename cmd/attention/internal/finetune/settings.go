package finetune

import (
	"fmt"
	"time"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run"
	"attention/internal/config"
	"attention/train"
	"attention/train/text"
)

// begin returns the config of a new run that has not read its base and its examples.
func (o *options) begin() (run.Config, error) {
	c, t := o.config, o.tuning
	if o.lora.Rank > 0 {
		lora := o.lora
		if lora.Alpha == 0 {
			lora.Alpha = float64(2 * lora.Rank)
		}
		t.LoRA = &lora
	}
	source, err := templateOf(o.template)
	if err != nil {
		return c, err
	}
	t.Template, c.Tuning = source, &t
	if _, err := run.Inspect(t.Base.Name); err != nil {
		return c, fmt.Errorf("--model: %w", err)
	}
	if c.Tuning.Base, err = run.SourceOf(t.Base.Name); err != nil {
		return c, fmt.Errorf("--model: %w", err)
	}
	if err = o.findData(&c); err != nil {
		return c, err
	}
	if o.task == classifyTask {
		c.Tuning.Classes, err = classesOf(c.Text.Name)
		return c, err
	}
	c.Tuning.Date, c.Tuning.Thinking = program.Now().Round(time.Second), haveThoughts(c.Text.Name)
	return c, nil
}

// findData finds the files of examples.
func (o *options) findData(c *run.Config) (err error) {
	files := []string{o.data, o.valid}
	if run.IsFolder(o.data) {
		found, valid, _, err := text.ExampleFiles(o.data)
		if err != nil {
			return fmt.Errorf("--data: %w", err)
		}
		files[0] = found
		if o.valid == "" {
			files[1] = valid
		}
	}
	if files[0] != "" {
		if c.Text, err = run.SourceOf(files[0]); err != nil {
			return fmt.Errorf("--data: %w", err)
		}
	}
	if run.IsFolder(files[1]) {
		return fmt.Errorf("--valid: %s: got a folder, want a file of examples", files[1])
	}
	if files[1] != "" {
		valid, err := run.SourceOf(files[1])
		if err != nil {
			return fmt.Errorf("--valid: %w", err)
		}
		c.Tuning.Valid = &valid
	}
	return nil
}

// complete fills in the defaults that depend on the number of batches of an epoch.
func (o *options) complete(c *run.Config, batches int) error {
	n := &c.Training.Steps
	if *n == 0 {
		per := max(c.Training.Accumulate, 1)
		*n = (c.Epochs*batches + per - 1) / per
	}
	if !o.given("eval-every") {
		c.Training.EvalEvery = max(1, *n/10)
	}
	rate, warmup := 2e-4, min(*n/20, 100)
	if c.Tuning.LoRA == nil {
		rate = 2e-5
	}
	if o.given("lr") {
		rate = o.rate
	}
	floor := rate / 10
	if o.given("min-lr") {
		floor = o.floor
	}
	if o.given("warmup") {
		warmup = o.warmup
	}
	c.Training.Schedule = train.ScheduleConfig{
		Schedule: train.CosineLR{Peak: rate, Floor: floor, WarmupSteps: warmup, Steps: *n}}
	return config.Named(c.Validate(), flagOf)
}

// again returns the config of a run to resume, with the flags that are given.
func (o *options) again(dir string) (c run.Config, err error) {
	in, err := run.Inspect(dir)
	if err != nil {
		return c, err
	}
	if !in.IsRun() {
		return c, in.ErrNoRun()
	}
	if in.Kind == run.DatesModel || in.Config.Tuning == nil {
		return c, in.ErrResume("finetune")
	}
	c = in.Config
	if o.given("base") {
		c.Tuning.Base.Name = o.tuning.Base.Name
	}
	for flag, set := range map[string]func(){
		"steps":                  func() { c.Training.Steps = o.config.Training.Steps },
		"save-every":             func() { c.Checkpoints.Every = o.config.Checkpoints.Every },
		"keep":                   func() { c.Checkpoints.Keep = o.config.Checkpoints.Keep },
		"sample":                 func() { c.Sample.Tokens = o.config.Sample.Tokens },
		"checkpoint-activations": func() { c.CheckpointActivations = o.config.CheckpointActivations },
	} {
		if o.given(flag) {
			set()
		}
	}
	return c, config.Named(c.Validate(), flagOf)
}
