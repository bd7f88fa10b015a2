package finetune

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/text"

	"github.com/spf13/pflag"
)

// options are the flags of attention finetune.
type options struct {
	config         settings.Config // what flags set of it
	tuning         settings.Tuning
	lora           layers.LoRAConfig
	out, resume    string
	data, valid    string
	template, task string
	rate, floor    float64
	warmup         int
	show           int
	given          func(flag string) bool
}

// usual returns the options without flags.
func usual() *options {
	return &options{
		config: settings.Config{Format: settings.Format, Precision: "full", Batch: 4, Order: text.RandomOrder,
			Training: loop.Config{StepConfig: train.StepConfig{Accumulate: 1,
				Solver:   train.SolverConfig{Name: train.AdamW, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: train.DecayMatrices},
				ClipNorm: 1, Seed: 1}},
			Checkpoints: checkpoint.Config{Every: 100, Keep: 2}, Sample: settings.SampleConfig{Tokens: 48}},
		tuning: settings.Tuning{Long: text.CutLong},
		lora:   layers.LoRAConfig{Rank: 8}, task: answerTask,
	}
}

// resumed are the flags that --resume allows.
var resumed = []string{"base", "data", "valid", "steps", "save-every", "keep", "sample", "checkpoint-activations",
	"view", "addr", "open"}

// declare declares the flags, whose defaults are the values of the options.
func (o *options) declare(f *pflag.FlagSet) {
	f.SortFlags = false
	c, t, l := &o.config, &o.tuning, &o.lora
	f.StringVar(&t.Base.Name, "model", t.Base.Name,
		"`folder` of the model to tune: of another program, an export or a run")
	f.StringVar(&o.data, "data", o.data, "`file` of examples to learn from (.jsonl, .json, .csv, .tsv), or a folder with "+
		"train, valid and test")
	f.StringVar(&o.valid, "valid", o.valid, "`file` of held-out examples (default valid of the folder of --data)")
	f.StringVar(&o.task, "task", o.task,
		"what `task` is learned: to answer, or with classify the labels of texts, at the token that ends a text")
	f.StringVar(&o.out, "out", "", "run `folder`, new or empty (default the first new one of runs/1, runs/2, …)")
	f.StringVar(&o.resume, "resume", "", "run `folder`, or one of its checkpoints, to continue instead of a new run")
	f.StringVar(&t.Base.Name, "base", t.Base.Name, "`folder` in which the model of a run to --resume is now")
	f.IntVar(&o.show, "show", 0, "print what of the first `examples` is learned, token by token, and train nothing")

	f.IntVar(&l.Rank, "lora", l.Rank, "`rank` of the adapters; 0 trains the whole model")
	f.Float64Var(&l.Alpha, "lora-alpha", l.Alpha, "adapters are scaled by it over their rank (default twice --lora)")
	f.Float64Var(&l.Dropout, "lora-dropout", l.Dropout, "`probability` of dropping an input of an adapter")
	f.BoolVar(&l.RankStabilized, "rslora", l.RankStabilized, "scale by --lora-alpha over the root of the rank")
	f.StringSliceVar(&l.Targets, "targets", l.Targets,
		"`patterns` of the weights that get adapters, such as q_proj,v_proj,lm_head (default "+layers.AllLinear+")")
	f.StringSliceVar(&l.Whole, "whole", l.Whole, "`patterns` of what is trained whole, such as embed_tokens,norm")

	f.StringVar(&o.template, "template", o.template,
		"`name` of the chat template: alpaca, chatml or a file (default the model's, or else alpaca)")
	f.BoolVar(&t.TrainOnPrompts, "train-on-prompts", t.TrainOnPrompts, "learn whole conversations, not only the answers")
	f.IntVar(&t.Context, "context", t.Context,
		"tokens of a row (default those of the longest example, at most 512 or the model's)")
	f.StringVar(&t.Long, "long", t.Long, "`what` becomes of a longer example: cut or skip")

	f.IntVar(&c.Batch, "batch", c.Batch, "rows of a batch, at most as many as the examples fill")
	f.IntVar(&c.Training.Accumulate, "accumulate", c.Training.Accumulate, "batches of a step")
	f.IntVar(&c.Epochs, "epochs", c.Epochs, "passes over the examples (default 3, or more until there are 100 steps)")
	f.IntVar(&c.Training.Steps, "steps", c.Training.Steps, "training steps (default those of --epochs)")
	f.Float64Var(&o.rate, "lr", 0,
		"peak learning `rate` (default 0.0005·(2000/width)^0.781; a tenth of that with --lora 0)")
	f.Float64Var(&o.floor, "min-lr", 0, "learning `rate` at the end of the decay (default a tenth of --lr)")
	f.IntVar(&o.warmup, "warmup", 0, "`steps` of the warm-up (default a twentieth of all, at most 100)")
	f.Float64Var(&c.Training.Solver.WeightDecay, "weight-decay", c.Training.Solver.WeightDecay, "weight decay of matrices")
	f.Float64Var(&c.Training.ClipNorm, "clip", c.Training.ClipNorm,
		"largest `norm` of all gradients together; 0 means none")
	f.StringVar(&c.Precision, "precision", c.Precision, "`precision` of the operands of products: full, or bf16")
	f.BoolVar(&c.CheckpointActivations, "checkpoint-activations", c.CheckpointActivations,
		"keep only the ends of blocks for the backward pass: less memory, more time, the same bits")
	f.Int64Var(&c.Training.Seed, "seed", c.Training.Seed, "seed of the adapters, the rows and the dropout")
	f.IntVar(&c.Training.EvalEvery, "eval-every", c.Training.EvalEvery,
		"steps between validations; 0 means only one, at the end (default a tenth of all)")
	f.IntVar(&c.Training.Patience, "patience", c.Training.Patience,
		"validations in a row without a lower loss after which the run ends; 0 means that it never does")
	f.BoolVar(&c.Training.KeepBest, "best", c.Training.KeepBest, "keep the weights of the lowest validation loss")
	f.IntVar(&c.Checkpoints.Every, "save-every", c.Checkpoints.Every, "steps between checkpoints")
	f.IntVar(&c.Checkpoints.Keep, "keep", c.Checkpoints.Keep, "number of newest checkpoints to keep")
	f.IntVar(&c.Sample.Tokens, "sample", c.Sample.Tokens, "tokens of the answers that are shown; 0 means no answers")
}

// flagOf has the flags of the fields of the config by their paths in config.json.
var flagOf = map[string]string{"batch": "--batch", "epochs": "--epochs", "precision": "--precision",
	"training.steps": "--steps", "training.accumulate": "--accumulate", "training.eval_every": "--eval-every",
	"training.patience": "--patience", "training.clip_norm": "--clip", "training.solver.weight_decay": "--weight-decay",
	"training.schedule.peak": "--lr", "training.schedule.floor": "--min-lr", "training.schedule.warmup_steps": "--warmup",
	"checkpoints.every": "--save-every", "checkpoints.keep": "--keep", "sample.tokens": "--sample",
	"tuning.context": "--context", "tuning.long": "--long", "tuning.lora.r": "--lora",
	"tuning.lora.lora_alpha": "--lora-alpha", "tuning.lora.lora_dropout": "--lora-dropout",
	"tuning.lora.target_modules": "--targets", "tuning.lora.modules_to_save": "--whole"}

// check returns an error for flags that are missing or do not go together.
func (o *options) check(set *pflag.FlagSet) (err error) {
	o.given = set.Changed
	set.Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			err = fmt.Errorf("--%s: got nothing, want a value", f.Name)
		}
		if err == nil && o.resume != "" && f.Name != "resume" && !slices.Contains(resumed, f.Name) {
			err = fmt.Errorf("--%s: got it beside --resume, want only --%s: the run's %s has the rest", f.Name,
				strings.Join(resumed, ", --"), settings.ConfigFile)
		}
	})
	switch {
	case err != nil || o.resume != "":
		return err
	case o.given("base"):
		return errors.New("--base: got it without --resume, want --model")
	case o.tuning.Base.Name == "":
		return errors.New("--model: missing, want the folder of the model to tune")
	case o.data == "":
		return errors.New("--data: missing, want a file of examples, or a folder with them")
	case o.lora.Rank < 0:
		return fmt.Errorf("--lora: got %d, want at least 1, or 0 for the whole model", o.lora.Rank)
	case o.lora.Rank == 0 && (o.given("targets") || o.given("whole") || o.given("rslora") ||
		o.lora.Alpha+o.lora.Dropout > 0):
		return errors.New("--lora: got 0 with flags of adapters, want a rank")
	case o.task != answerTask && o.task != classifyTask:
		return fmt.Errorf("--task: got %.40q, want %s or %s", o.task, answerTask, classifyTask)
	case o.task == classifyTask && (o.template != "" || o.tuning.TrainOnPrompts || o.show > 0):
		return fmt.Errorf("--task: got %s with --template, --train-on-prompts or --show, which are of conversations", o.task)
	case o.show < 0:
		return fmt.Errorf("--show: got %d, want at least 0", o.show)
	}
	return nil
}
