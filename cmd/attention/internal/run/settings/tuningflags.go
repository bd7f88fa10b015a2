package settings

import "attention/layers"

// Tasks of attention finetune.
const (
	AnswerTask   = "answer"
	ClassifyTask = "classify"
	EmbedTask    = "embed" // of an encoder, as are the following
	MaskTask     = "mask"
	RankTask     = "rank"
	TagTask      = "tag"
)

// Tasks are all of them.
var Tasks = []string{AnswerTask, ClassifyTask, EmbedTask, MaskTask, RankTask, TagTask}

// tuningFlags returns the flags that only attention finetune has.
func tuningFlags() []flag {
	list := []flag{
		{name: "model", paths: []string{"tuning.base.name"},
			usage: "`folder` of the model to tune: of another program, an export or a run"},
		{name: "data", resumed: true,
			usage: "`file` of examples to learn from (.jsonl, .json, .conll, .csv, .tsv), or a folder with train, valid " +
				"and test"},
		{name: "valid", resumed: true, usage: "`file` of held-out examples (default valid of the folder of --data)"},
		{name: "task", usual: AnswerTask,
			usage: "`task` to learn: answer; classify, which predicts the label of a text; or of an encoder embed, which " +
				"makes vectors of similar texts similar, mask, which predicts masked tokens, rank, which scores a text for a " +
				"query, or tag, which finds spans in texts"},
		{name: "base", paths: []string{"tuning.base.name"}, resumed: true,
			usage: "`folder` in which the model of a run to --resume is now"},
		{name: "show", usual: 0,
			usage: "print which tokens of the first `examples` are learned, and train nothing"},

		{name: "lora", paths: []string{"tuning.lora.r"}, usage: "`rank` of the adapters; 0 trains the whole model"},
		{name: "lora-alpha", paths: []string{"tuning.lora.lora_alpha"},
			usage: "adapters are scaled by this number over their rank (default twice --lora)"},
		{name: "lora-dropout", paths: []string{"tuning.lora.lora_dropout"},
			usage: "`probability` of dropping an input of an adapter"},
		{name: "rslora", paths: []string{"tuning.lora.use_rslora"},
			usage: "scale by --lora-alpha over the root of the rank"},
		{name: targetsFlag, paths: []string{"tuning.lora.target_modules"},
			usage: "`patterns` of the weights that get adapters, such as q_proj,v_proj,lm_head (default " +
				layers.AllLinear + ")"},
		{name: wholeFlag, paths: []string{"tuning.lora.modules_to_save"},
			usage: "`patterns` of the weights that are trained whole, such as embed_tokens,norm"},

		{name: "template", usage: "`name` of the chat template: alpaca, chatml or a file (default the model's, or else alpaca)"},
		{name: "train-on-prompts", paths: []string{"tuning.train_on_prompts"},
			usage: "learn whole conversations, not only the answers"},
		{name: "context", paths: []string{"tuning.context"},
			usage: "tokens of a row (default those of the longest example, at most 512 or the model's)"},
		{name: "long", paths: []string{"tuning.long"},
			usage: "`how` to handle an example longer than --context: cut or skip"},

		{name: "batch", paths: []string{"batch"}, usage: "rows of a batch, at most as many as the examples fill"},
		{name: "mini-batch", paths: []string{"training.mini_batch_size"}, resumed: true,
			usage: "pairs whose vectors are computed at once, with --task embed: less memory, and the negatives of the " +
				"whole --batch; 0 means all"},
		{name: "epochs", paths: []string{"epochs"},
			usage: "passes over the examples (default 3, or more until there are 100 steps)"},
		{name: "lr", paths: []string{"training.schedule.peak"},
			usage: "peak learning `rate` (default 0.0005·(2000/width)^0.781; a tenth of that with --lora 0)"},
		{name: "min-lr", paths: []string{"training.schedule.floor"},
			usage: "learning `rate` at the end of the decay (default a tenth of --lr)"},
		{name: "warmup", paths: []string{"training.schedule.warmup_steps"},
			usage: "`steps` of the warm-up (default a twentieth of all, at most 100)"},
		{name: "weight-decay", paths: []string{"training.solver.weight_decay"}, usage: "weight decay of matrices"},
		{name: "seed", paths: []string{"training.seed"}, usage: "seed of the adapters, the rows and the dropout"},
		{name: "eval-every", paths: []string{"training.eval_every"},
			usage: "steps between validations; 0 means only one, at the end (default a tenth of all)"},
		{name: "sample", paths: []string{"sample.tokens"}, resumed: true,
			usage: "tokens of the answers that are shown; 0 means no answers"},
	}
	for i := range list {
		list[i].of = []string{Finetune}
	}
	return list
}
