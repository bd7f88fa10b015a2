package settings

import (
	"testing"

	"attention/internal/config"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// withoutFlag lists the values in config.json that no flag sets: types, counts and sizes that follow from other values,
// and values that only a decoder has.
var withoutFlag = []string{
	"format", "training.schedule.stable_steps", "model.blocks", "model.layout",
	"text.bytes", "text.sha256", "init.bytes", "init.sha256", "vocabulary.characters",
	"ngram.unigram", "ngram.unigram_alpha", "ngram.bigram", "ngram.bigram_alpha", "ngram.bigram_entropy",
}

// Every value in config.json has a flag or needs none, and flags set no other values.
func TestFlagsCover(t *testing.T) {
	known, seen := map[string]bool{}, map[string]bool{}
	for _, path := range withoutFlag {
		known[path] = true
	}
	for key := range follows {
		known["model.attention."+key] = true
	}
	for _, f := range flagsOf(Train) {
		for _, path := range f.paths {
			known[path] = true
		}
	}
	constant := configFile(t, `{"training": {"schedule": {"type": "constant", "rate": 0.1}}}`)
	for _, args := range [][]string{
		{"--model", "gpt", "--kv-heads", "1", "--hidden", "5", "--weight-decay", "0.1", "--prompt", "the",
			"--freeze", "wte", "--group", "h.0:lr_factor=2", "--patience", "3", "--min-delta", "0.1", "--best",
			"--qkv-bias=false", "--initializer", "torch", "--epochs", "2", "--head-stats",
			"--checkpoint-activations"},
		{"--model", "gpt", "--context-growth", "16:3"},
		{"--model", "gpt", "--rope", "--norm", "rms", "--mlp", "swiglu", "--qk-norm", "rms", "--window", "3"},
		{"--model", "gpt", "--attention", "gla", "--full-attention-every", "2"},
		{"--model", "decoder", "--embedding-dropout", "0.1"},
		{"--layer", "multi_head", "--qkv-bias", "--dropout", "0.1", "--init", "x"},
		{"--layer", "additive", "--solver", "sgd", "--momentum", "0.1"},
		{"--model", "gpt", "--solver", "muon", "--nesterov=false", "--ns-steps", "3", "--schedule", "wsd"},
		{"--config", constant},
	} {
		c := settled(t, args...)
		c.Text, c.NGram = TextSource{"a", 1, "b"}, new(text.NGram)
		c.Vocabulary.Characters = "abc"
		all, err := config.ValuesOf(c)
		require.NoError(t, err)
		for path := range all {
			require.True(t, known[path], path)
			seen[path] = true
		}
	}
	require.Equal(t, known, seen)
}

// The flags of the values that --dropout sets come after it, so that they override it.
func TestFlagsOfOneValue(t *testing.T) {
	last := map[string]string{}
	for _, f := range flagsOf(Train) {
		for _, path := range f.paths {
			last[path] = f.name
		}
	}
	require.Equal(t, "embedding-dropout", last["model.embedding_dropout"])
	require.Equal(t, "attention-dropout", last["model.attention_dropout"])
	require.Equal(t, "residual-dropout", last["model.residual_dropout"])
}

// Each flag of attention finetune and translate sets fields that its config has, or none; a wrong value is named by the
// flag, and --resume allows the flags of the column.
func TestFlagsOfCommands(t *testing.T) {
	set := func(command string, args ...string) *pflag.FlagSet {
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		AddFlags(f, command)
		require.NoError(t, f.Parse(args))
		return f
	}
	for _, command := range []string{Finetune, Translate} {
		for _, f := range flagsOf(command) {
			for _, path := range f.paths {
				_, ok := defaultsOf(command, "", "").field(path)
				require.True(t, ok, f.name)
			}
			usual := set(command).Lookup(f.name).DefValue
			if usual == "" || usual == "[]" {
				usual = "1"
			}
			err := CheckFlags(set(command, "--resume", "r", "--"+f.name+"="+usual), command)
			if f.resumed || f.name == "resume" {
				require.NoError(t, err, f.name)
			} else {
				require.ErrorContains(t, err, ": got it beside --", f.name)
			}
		}
	}
	c, err := OfFlags(set(Finetune, "--lora", "4", "--targets", "q_proj,v_proj", "--lr", "0.5", "--steps", "7",
		"--model", "m"), Finetune)
	require.NoError(t, err)
	require.Equal(t, &layers.LoRAConfig{Rank: 4, Targets: []string{"q_proj", "v_proj"}}, c.Tuning.LoRA)
	require.Equal(t, train.CosineLR{Peak: 0.5}, c.Training.Schedule.Schedule)
	require.Equal(t, []any{7, "m", 4, "cut"}, []any{c.Training.Steps, c.Tuning.Base.Name, c.Batch, c.Tuning.Long})
	require.EqualError(t, c.Named(set(Finetune), config.Errorf(c, "Tuning.LoRA.Rank", "x")), "--lora: x")
}
