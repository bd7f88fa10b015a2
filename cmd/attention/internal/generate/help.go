package generate

const help = `Goes on with a text: a language model reads the prompt and adds tokens one by one,
each drawn from what the model thinks of those before it. The text appears as its
characters are complete; the prompt is not repeated. The same flags give the same
text.

MODEL: --model is a folder with config.json and model.safetensors:

  - GPT-2 as Hugging Face's transformers keep it ("model_type": "gpt2"), its
    weights in one file or in the parts that model.safetensors.index.json names.
    Its tokenizer is GPT-2's, which is part of this program, if vocab_size is
    50257 (or 50304, filled up), or else what "vocabulary" in config.json names.
  - what attention export wrote.
  - a run of attention train, whose model of one attention layer reads its whole
    window anew for each token. Of a run that is not finished, or has gone on since
    it was, it is the newest checkpoint's.

A GPT reads the prompt in large chunks and keeps the keys and values of all tokens,
so that a token costs nearly the same anywhere in the window of n_positions tokens.
When prompt and text together are longer, it reads the last half of a window anew and
goes on from there, again and again: what came before is forgotten.

DRAWING: scores are divided by --temperature; then --top-k and then --top-p leave the
most likely tokens, among which one is drawn by its probability. --temperature 0
takes the most likely one always.

END: after --tokens tokens, before a --stop text or at the model's end-of-text token.
Ctrl-C ends it too, with exit code 130. On a terminal control characters are shown
escaped; elsewhere the text is printed as it is, without a line end of its own.`

const example = `  attention generate --model gpt2 --prompt "The meaning of attention is"
  attention generate --model runs/1 --prompt "It is" --tokens 300 --temperature 0.5
  attention generate --model gpt2 --prompt-file question.txt --stop $'\n\n' --stats`
