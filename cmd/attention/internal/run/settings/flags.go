package settings

import (
	"fmt"
	"slices"
	"strings"

	"attention/cmd/attention/internal/flags"
	"attention/layers/chapter"
)

// A flag of a command that trains sets fields of a run's config, from which it has its type and default.
type flag struct {
	name    string
	of      []string // the commands that have it; nil means Train
	paths   []string // of the fields in config.json, for each type of model and schedule; none if it sets no field
	usage   string
	resumed bool // whether it may be given together with the flag instead
	instead bool // whether it names a run, whose config supplies all other values
	usual   any  // the default of a flag that sets no field; nil means ""
}

// The commands that have flags of the table.
const (
	Train     = "train"
	Finetune  = "finetune"
	Translate = "translate"
)

// The commands of a flag of several.
var (
	every = []string{Train, Finetune, Translate}
	both  = every[:2]
)

// flagsOf returns the flags of a command.
func flagsOf(command string) (list []flag) {
	for _, f := range slices.Concat(datesFlags(), tuningFlags(), trainFlags()) {
		if slices.Contains(f.of, command) || f.of == nil && command == Train {
			list = append(list, f)
		}
	}
	return list
}

// The flags of lists whose elements are objects: the solver's groups, and stages of short windows.
const (
	groupFlag  = "group"
	growthFlag = "context-growth"
	noGrowth   = "none"
	// The flags of patterns with commas between them.
	targetsFlag = "targets"
	wholeFlag   = "whole"
)

// trainFlags returns the flags of attention train, with those that other commands share. A flag that sets
// fields of other flags comes before them.
func trainFlags() []flag {
	const probability = "`probability` "
	return []flag{
		{name: "text", paths: []string{"text.name"},
			usage: "UTF-8 `file` to learn from; - is the standard input (default the text in the program)", resumed: true},
		{name: "out", of: every, usage: "run `folder`, new or empty (default the first new one of runs/1, runs/2, …)"},
		{name: "resume", of: every, instead: true,
			usage: "run `folder`, or one of its checkpoints, to continue instead of a new run"},
		{name: "init", paths: []string{"init.name"},
			usage: "safetensors `file` or model folder with the initial weights, such as another run's model.safetensors"},
		{name: "preset", usage: "`name` of values for flags that are not given: " + strings.Join(presetNames(), ", ")},
		{name: "config",
			usage: "JSON `file` with values for flags that are not given, such as another run's config.json"},

		{name: "freeze", paths: []string{"freeze"},
			usage: "`pattern` of parameters that training leaves as they are, such as wte or h.0; several flags add up"},

		{name: "tokenizer", paths: []string{"vocabulary.tokenizer"},
			usage: "`name` of the tokenizer: characters, bytes or gpt2; or a tokenizer.json, such as attention tokenize makes"},
		{name: "model", paths: []string{"model.type"},
			usage: "`name` of the model: layer, gpt, or decoder, which --config describes"},
		{name: "layer", paths: []string{"model.attention.layer"},
			usage: "attention `variant`: " + strings.Join(chapter.Names(), ", ")},
		{name: "width", paths: []string{"model.embed_dim"},
			usage: "width of the embeddings and of the attention, all heads together"},
		{name: "heads", paths: []string{"model.attention.num_heads", "model.num_heads"},
			usage: "heads of gpt, multi_head and multi_head_wrapper, a divisor of --width; the other layers have one"},
		{name: "context", paths: []string{"model.context_length"},
			usage: fmt.Sprintf("tokens of a window (default %d; %d for layers that see the whole window)",
				causalContext, wholeContext)},
		{name: growthFlag, paths: []string{"context_growth"},
			usage: "`stage` of shorter windows, TOKENS:STEPS, such as 16:80 for windows of 16 in the first 80 steps; " +
				"several add up, and then come windows of --context; none leaves out those of a preset"},
		{name: "qkv-bias", paths: []string{"model.attention.qkv_bias", "model.qkv_bias"},
			usage: "add biases to the query, key and value projections (default of a gpt --bias); " +
				"simple, self_v1 and additive have none"},
		{name: "layers", paths: []string{"model.num_layers"}, usage: "blocks of a gpt"},
		{name: "kv-heads", paths: []string{"model.num_kv_heads"},
			usage: "key and value heads of a gpt, a divisor of --heads; 0 means as many as --heads"},
		{name: "hidden", paths: []string{"model.dim_feedforward"},
			usage: "inner width of a gpt's MLPs; 0 means four times --width"},
		{name: "activation", paths: []string{"model.activation"},
			usage: "`name` of a gpt's activation: gelu (exact), gelu_new (by tanh), relu, relu2 or silu"},
		{name: "rope", paths: []string{"model.rope"},
			usage: "turn a gpt's queries and keys by their positions (RoPE), in place of learned positions"},
		{name: "norm", paths: []string{"model.norm"},
			usage: "`kind` of a gpt's norms: layer, or rms as in Llama (default layer)"},
		{name: "mlp", paths: []string{"model.mlp"},
			usage: "`kind` of a gpt's MLPs, such as swiglu, Llama's (default --activation)"},
		{name: "qk-norm", paths: []string{"model.qk_norm"},
			usage: "`kind` of norm of each head's queries and keys: rms, as in Qwen 3, or l2 (default none)"},
		{name: "window", paths: []string{"model.window"},
			usage: "last `tokens` that each token of a gpt sees, itself among them; 0 means all"},
		{name: "attention", paths: []string{"model.attention_form"},
			usage: "`form` of attention of a gpt's layers, in place of full attention: " + strings.Join(Forms(), ", ")},
		{name: "full-attention-every", paths: []string{"model.full_attention_every"},
			usage: "with --attention, number of layers in a group whose last layer has full attention; 0 means none has"},
		{name: "norm-eps", paths: []string{"model.eps"},
			usage: "epsilon added to the variance in a gpt's norms"},
		{name: "bias", paths: []string{"model.bias"}, usage: "add biases to the linear layers and norms of a gpt"},
		{name: "tie", paths: []string{"model.tie_word_embeddings"},
			usage: "tie a gpt's output projection to its token embeddings"},
		{name: "initializer", paths: []string{"model.initializer"},
			usage: "how a gpt's parameters begin: gpt2, or torch, as PyTorch's modules do"},
		{name: "vocab", paths: []string{"model.vocab_size"},
			usage: "vocabulary size of the model; 0 means that of the tokenizer"},
		{name: "dropout",
			paths: []string{"model.attention.dropout", "model.embedding_dropout", "model.attention_dropout",
				"model.residual_dropout"},
			usage: probability + "in [0, 1) of dropping an attention weight, for a gpt also an embedding or a block's output; " +
				"causal layers only"},
		{name: "embedding-dropout", paths: []string{"model.embedding_dropout"},
			usage: probability + "of dropping an embedding of a gpt (default --dropout)"},
		{name: "attention-dropout", paths: []string{"model.attention_dropout"},
			usage: probability + "of dropping an attention weight of a gpt (default --dropout)"},
		{name: "residual-dropout", paths: []string{"model.residual_dropout"},
			usage: probability + "of dropping an output of a gpt's attention or MLP (default --dropout)"},
		{name: "dtype", paths: []string{"dtype"}, usage: "element `type`: float32 or float64"},
		{name: "precision", of: both, paths: []string{"precision"},
			usage: flags.PrecisionUsage, resumed: true},

		{name: "steps", of: both, paths: []string{"training.steps"}, usage: "training steps, in place of those of --epochs", resumed: true},
		{name: "batch", paths: []string{"batch"},
			usage: fmt.Sprintf("windows of a batch (default %d; %d for layers that see the whole window)",
				causalBatch, wholeBatch)},
		{name: "accumulate", of: both, paths: []string{"training.accumulate"},
			usage: "batches of a step; their gradients add up to those of one large batch"},
		{name: "order", paths: []string{"order"},
			usage: "`order` of the windows: random, or sequential through the text, again and again"},
		{name: "epochs", paths: []string{"epochs"},
			usage: "passes over the windows of the text that do not overlap, each once in a pass, in --order; " +
				"they give --steps; 0 means windows anywhere"},
		{name: "solver", paths: []string{"training.solver.name"}, usage: "`name` of the solver: sgd, adam, adamw, or muon, " +
			"which has adamw beside it for all but matrices and, unless --group says otherwise, for embeddings and head"},
		{name: "schedule", paths: []string{"training.schedule.type"},
			usage: "`type` of the schedule of the learning rate: cosine, wsd (warm-up, stable, linear decay) or constant"},
		{name: "lr", paths: []string{"training.schedule.peak", "training.schedule.rate"},
			usage: fmt.Sprintf("peak learning `rate`, after a linear warm-up and before the decay "+
				"(default %v; %v for a gpt, %v for sgd)",
				adamRate, gptRate, sgdRate)},
		{name: "min-lr", paths: []string{"training.schedule.floor"},
			usage: "learning `rate` at the end of the decay (default a tenth of --lr; 0 for wsd)"},
		{name: "warmup", paths: []string{"training.schedule.warmup_steps"},
			usage: "`steps` of the warm-up (default a twentieth of --decay-steps, at most 100; of --steps for wsd)"},
		{name: "decay-steps", paths: []string{"training.schedule.steps", "training.schedule.decay_steps"},
			usage: "`steps` of warm-up and decay together (default --steps), or of wsd's decay alone, at the end (default " +
				"half of --steps); later ones have --min-lr"},
		{name: "beta1", paths: []string{"training.solver.beta1"},
			usage: "decay rate of the gradients' running mean in adam, adamw and muon's adamw"},
		{name: "beta2", paths: []string{"training.solver.beta2"},
			usage: "decay rate of the squared gradients' running mean in the same"},
		{name: "eps", paths: []string{"training.solver.eps"},
			usage: "epsilon added to the square root of that mean"},
		{name: "momentum", paths: []string{"training.solver.momentum"},
			usage: "momentum of sgd and muon, in [0, 1) (default 0; 0.95 for muon)"},
		{name: "nesterov", paths: []string{"training.solver.nesterov"},
			usage: "use Nesterov's momentum in muon"},
		{name: "ns-steps", paths: []string{"training.solver.ns_steps"},
			usage: "steps of muon's Newton–Schulz iteration; 0 means 5"},
		{name: "adjust-lr", paths: []string{"training.solver.adjust_lr"},
			usage: "how muon's learning `rate` follows from a matrix' shape: match_rms_adamw, which takes a rate for adamw"},
		{name: "weight-decay", paths: []string{"training.solver.weight_decay"},
			usage: "weight decay of the parameters that --decay names"},
		{name: "decay", paths: []string{"training.solver.decay"},
			usage: "`parameters` with weight decay: matrices, which include embeddings, or all, also biases and norms"},
		{name: groupFlag, paths: []string{"training.solver.groups"},
			usage: "`group` of parameters with a learning rate, a weight decay or, beside muon, adamw for them, such as " +
				"h.0:lr_factor=0.1,weight_decay=0; several add up"},
		{name: "clip", of: both, paths: []string{"training.clip_norm"},
			usage: "largest `norm` of all gradients together, which are scaled down to it; 0 means none"},
		{name: "checkpoint-activations", of: both, paths: []string{"checkpoint_activations"},
			usage: "keep only the ends of blocks for the backward pass, which computes the rest again: " +
				"less memory, more time, the same bits", resumed: true},
		{name: "seed", paths: []string{"training.seed"},
			usage: "seed of the initial weights, the batches, the dropout and the sample"},

		{name: "eval-every", paths: []string{"training.eval_every"},
			usage: "steps between validations; 0 means only one, at the end"},
		{name: "eval-batches", paths: []string{"eval_batches"},
			usage: "random batches of a validation; 0 means the whole validation text, as always for the last one"},
		{name: "head-stats", paths: []string{"head_stats"},
			usage: "report each head's entropy and largest score at every validation, and record them", resumed: true},
		{name: "patience", of: both, paths: []string{"training.patience"},
			usage:   "validations in a row without a lower loss after which the run ends; 0 means that it never does",
			resumed: true},
		{name: "min-delta", paths: []string{"training.min_delta"},
			usage: "`nats` that a loss has to be lower to count for --patience", resumed: true},
		{name: "best", of: both, paths: []string{"training.keep_best"},
			usage: "save the model with the lowest validation loss in model.safetensors, not the last one"},
		{name: "save-every", of: both, paths: []string{"checkpoints.every"},
			usage: "steps between checkpoints; 0 means only one, at the end or when the run is stopped", resumed: true},
		{name: "keep", of: both, paths: []string{"checkpoints.keep"}, usage: "number of newest checkpoints to keep", resumed: true},
		{name: "prompt", paths: []string{"sample.prompt"},
			usage: "`text` that the sample continues and attention.png shows (default validation text)", resumed: true},
		{name: "sample", paths: []string{"sample.tokens"}, usage: "tokens of the sample; 0 means none", resumed: true},
	}
}
