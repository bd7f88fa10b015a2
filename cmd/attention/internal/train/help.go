package train

const help = `Train a language model on a text. --model layer, the default, is the smallest one that
shows what attention learns: token and position embeddings, one attention layer of the
chosen variant, and a projection to the scores of the next token. --model gpt is
GPT-2's form with sizes of its own.

Without --text it learns from a text about attention that is part of the program.
The first nine tenths of a text are trained on, the last tenth is for validation. Its
tokens are characters, bytes or GPT-2's. Losses are in nats per token. Beside them
stands what counting achieves on the same validation text, but for GPT-2's tokens:
single ones (unigram) and pairs of them (bigram). Attention is all that brings in
tokens before the last one, so what is below the bigram's loss is what it has learnt.

A gpt and the layers causal, multi_head_wrapper and multi_head learn from every position
of a window of the text. The other layers let each token see the whole window, so that
only the one after it is left to learn from: they get more and shorter windows.

A flag that is not given takes its value from --config, a run's config.json or a part of
one, or else from the folder of --init, or else from --preset:
  nano-char  nanoGPT's GPT of 0.8 million parameters for the characters of a text
  gpt2       GPT-2 with 124 million, to be fine-tuned: --init takes its folder
  tiny       a GPT for a first try, in seconds
--config runs/1/config.json repeats a run. With another --solver than theirs, what they say
of --lr, --min-lr, --beta1, --beta2, --eps, --momentum, --weight-decay and --decay does not
count.

--init begins with the weights of a file, or of a gpt's folder, with config.json, as
transformers, attention export and attention train write them. A folder says the model's
form and tokenizer too; --context may be less than it has positions.

With --eval-batches the validations on the way are over random batches, the same each
time, and one over the whole validation text comes at the end.

The run folder gets model.safetensors, config.json, metrics.jsonl, loss.png,
attention.png (for --model layer) and a folder of checkpoints. The same flags and seed
give the same model, bit for bit. attention generate goes on with texts by it.

Ctrl-C finishes the step, saves a checkpoint and what the run has learnt, says how to
go on and exits with 130. So do kill (143), the end of the terminal (129; not under nohup)
and of a program that reads what is printed (141). A run that was stopped so, killed at
once or cut off from its machine goes on with --resume from its newest checkpoint, and then
ends with the same bits, in metrics.jsonl too (but for tokens_per_second), as if
nothing had happened. Its config.json says all that the flags said; only --steps,
--save-every, --keep, --prompt and --sample, and --text if the file has moved, may be
given anew. More --steps than the decay of the learning rate has are taken at --min-lr.

A checkpoint holds a checksum of itself; one that is damaged is never gone on from.
A loss or weight that is NaN or infinite stops a run before it is saved. One process
at a time works in a run folder.`

const example = `  attention train
  attention train --text novel.txt --layer causal --width 96 --steps 10000 --out runs/novel
  attention train --preset nano-char --text tinyshakespeare.txt
  attention train --preset gpt2 --init gpt2 --text novel.txt --context 256
  attention train --config runs/1/config.json --dropout 0.1
  attention train --solver sgd --momentum 0.9
  attention train --resume runs/1
  attention train --resume runs/1 --steps 4000`
