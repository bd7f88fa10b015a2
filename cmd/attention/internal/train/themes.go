package train

// theme is a part of the command's help: a text about some flags.
type theme struct {
	name, title string
	text        string
	flags       string // their names
}

// themes are the parts of the help. Every flag is in one of them.
var themes = []theme{
	{name: "run", title: "the folder of a run, where values come from, how it stops",
		flags: "out resume preset config save-every keep",
		text: `A flag that is not given takes its value from --config, a run's config.json or a
part of one, or else from the folder of --init, or else from --preset:
  nano-char  nanoGPT's GPT of 0.8 million parameters for a text's characters;
             llama-char one of that size with Llama's parts, and speedrun
             the same by Muon: nano-char's loss in an eighth of its steps
  gpt2       GPT-2 with 124 million, to be fine-tuned: --init takes its folder
  book       the book's recipe for a short story: GPT-2's size with a context of
             256, ten epochs of AdamW; book-small the same with 14 million
  tiny       a GPT of 0.1 million for a first try: below the bigram's loss in
             4 s on two cores with AVX-512
--config runs/first/config.json repeats a run. With a --solver other than
theirs, their values of --lr, --min-lr, --beta1, --beta2, --eps, --momentum,
--weight-decay, --decay and --group are ignored.

The run folder gets model.safetensors, config.json, report.json (dates, version,
command line, last losses, sample; see attention runs), metrics.jsonl, loss.png,
attention.png (for --model layer) and a folder of checkpoints. The same flags
and seed give the same model, bit for bit, on processors with the same kernels
(AVX-512, AVX2, NEON or none). attention generate continues texts with it.

Ctrl-C finishes the step, saves a checkpoint and the model, prints how to resume
and exits with 130. So do kill (143), the end of the terminal (129; not under
nohup), the end of a program that reads the output (141), and kill -USR1 (0). A
run that was stopped in any way, also by SIGKILL or a power failure, continues
with --resume from its newest checkpoint, and ends with the same bits, in
metrics.jsonl too (except tokens_per_second), as without the stop, on such a
processor; on another a line says that bits may differ. Its config.json has all
settings; only --steps, --head-stats, --checkpoint-activations, --patience,
--min-delta, --save-every, --keep, --prompt and --sample, and --text if the file
has moved, may be given again. Steps after the decay of the learning rate have
--min-lr.

A checkpoint contains a checksum of itself; a damaged one is never used. A loss
or weight that is NaN or infinite stops a run before it is saved. One process
at a time works in a run folder.`},
	{name: "text", title: "the text, its tokens and the windows of a batch",
		flags: "text tokenizer context context-growth batch order epochs",
		text: `Without --text it learns from a text about attention that is part of the
program. The first nine tenths of a text are for training, the last tenth is
for validation. Its tokens are characters, bytes or GPT-2's. Losses are in nats
per token. Except with GPT-2's tokens, they are shown beside the losses of
counting on the same validation text: single tokens (unigram) and pairs of them
(bigram). Only attention sees the tokens before the last one, so a loss below
the bigram's shows what it has learnt.

A gpt and the layers causal, multi_head_wrapper and multi_head learn from every
position of a window of the text. The other layers let each token see the whole
window, so only the token after the window is left to learn from: they get more
and shorter windows.

With --context-growth 16:80 the first 80 steps have windows of 16 tokens,
later steps windows of --context: a model learns first from near tokens.
Every step has the same number of tokens, in more windows while they are
short.`},
	{name: "model", title: "what is trained: one attention layer, a GPT, or another decoder",
		flags: "model layer width heads layers kv-heads hidden activation rope norm mlp qk-norm window attention " +
			"full-attention-every norm-eps bias qkv-bias tie initializer vocab dropout embedding-dropout " +
			"attention-dropout residual-dropout dtype precision checkpoint-activations",
		text: `Train a language model on a text. --model layer, the default, is the smallest
model that shows what attention learns: token and position embeddings, one
attention layer of the chosen variant, and a projection to the scores of the
next token. --model gpt is GPT-2's architecture in any size.

--rope, --norm rms, --mlp swiglu, --qk-norm and --window give a gpt parts of
today's models: the first three, without --bias, make it a Llama. With any of
them its parameters have Llama's names (model.layers.0.self_attn.q_proj.weight).
--attention gated_delta_net replaces attention to all tokens by a state of a
fixed size. With --full-attention-every 4 every fourth layer keeps full
attention. Blocks of several kinds, norms in other places, scales and caps need
--model decoder and a --config with "model": {"type": "decoder", "blocks":
[...]}, the fields of layers.DecoderConfig. Fields that are not given have the
values of a small Llama.

With --checkpoint-activations the backward pass computes the values inside a
gpt's blocks again instead of keeping them (transformers' gradient
checkpointing). This takes less memory and up to half more time, and gives the
same bits.`},
	{name: "weights", title: "weights to begin with, and those that stay",
		flags: "init freeze",
		text: `--init reads initial weights from a file, or from the folder of a gpt or another
decoder with config.json, as written by transformers, attention export and
attention train. A folder also sets the model's sizes and tokenizer; --context
may be less than its number of positions.

--freeze keeps parameters unchanged: their gradients are not computed, which
saves time and memory. --group gives parameters a factor of the learning rate, a
weight decay or, beside muon, adamw. A pattern matches whole names, or parts of
them between dots, with * and ? as in a shell: wte matches
transformer.wte.weight, h.0 the whole block, and bias every bias. The names of
--model layer begin with tokens, positions, attention and output. A parameter is
in one group at most.`},
	{name: "steps", title: "steps, learning rate and solver",
		flags: "steps accumulate solver schedule lr min-lr warmup decay-steps beta1 beta2 eps momentum nesterov ns-steps " +
			"adjust-lr weight-decay decay group clip seed",
		text: `mpirun -np 4 attention train divides a run among four processes, with the same
bits as in one process, if the program is built with -tags mpi (see
train/parallel/README.md). --accumulate is then the number of batches of a step
in all processes together, at least one for each process. --batch is the number
of windows of one batch, and tokens/s counts all processes. Rank 0 prints and
writes the run folder; the other ranks read the text, and with --resume the
checkpoint, at the same path.`},
	{name: "validation", title: "losses on other text, what is recorded, and the sample",
		flags: "eval-every eval-batches patience min-delta best head-stats prompt sample",
		text: `With --eval-batches, validations during training use random batches, the same
each time; the last validation uses the whole validation text. With --patience 5
a run ends after five validations in a row without a lower loss. With --best,
model.safetensors and the output at the end come from the model with the lowest
validation loss. Checkpoints hold this model beside the last weights, from which
the run resumes.

At each validation the run also records how its weights change, and the
attention weights on a few words of validation text (watch.jsonl,
watch.safetensors). At the end it draws both: weights.png, attention-steps.png.
With --head-stats it records and prints each head's entropy and largest score,
and how many heads have collapsed, with an entropy below 0.1 nats: each of their
queries attends to one key.`},
	{name: "page", title: "the run in the browser, while it trains",
		flags: "view addr open",
		text: `With --view a page in the browser shows the run while it trains: its curves, the
weights over the steps, and the attention of the model at that moment on your
text. Its URL is printed; --open opens it. When the run is done,
the page is served until Ctrl-C, and the program exits with 0; a run that is
stopped or fails ends at once, and the open page says so. attention view --run
shows the run again. The page changes no bit of the model.`},
}
