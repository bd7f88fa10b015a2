package generate

const help = `Continue a text: a language model reads the prompt and adds tokens one by one,
each drawn by its probability after the text so far. The command prints the
prompt and then the text, character by character. The same flags give the same
text on processors with the same kernels (AVX-512, AVX2, NEON or none).

MODEL: --model is a folder with config.json and model.safetensors. Without it
the command takes the newest run in the folder runs that can continue a text.

  - GPT-2 in the form of Hugging Face's transformers ("model_type": "gpt2"), its
    weights in one file or in the parts that model.safetensors.index.json names.
    Its tokenizer is GPT-2's, which is part of this program, if vocab_size is
    50257 (or 50304, with padding), or else the "vocabulary" in config.json.
  - a model of another family in that form, with its tokenizer.json: llama
    (Llama 2 and 3, SmolLM, SmolLM 2, TinyLlama), mistral, qwen2, qwen3,
    smollm3, olmo2, gemma2, gemma3_text, gpt_neox. A key of config.json that
    transformers reads and that is not supported here is an error. Other unknown
    keys are ignored, and a line names them.
  - a folder written by attention export.
  - a GGUF file of llama.cpp, of one of these families. ollama:NAME or
    ollama:NAME:TAG is the file of a model in Ollama's store, which is the
    folder OLLAMA_MODELS, or else Ollama's default.
  - an adapter in PEFT's form, with the base that its adapter_config.json names,
    or that of --base. --adapter adds one to another model.
  - a run of attention train, or one of attention finetune with its base. If the
    run is not finished, or was resumed after its end, the weights are those of
    its newest checkpoint. A model of one attention layer reads the whole window
    again for each token.

A GPT reads the prompt in large chunks and keeps the keys and values of all
tokens, so that a token costs nearly the same anywhere in the window. The window
has context_length tokens, or --context tokens; its memory grows with the text.
When the window is full, the model reads its last half again and continues from
there. It forgets the earlier tokens.

SEVERAL TEXTS: several --prompt, or --samples N, continue texts together: one
pass over the weights, which takes most of a token's time, serves them all. The
texts are printed when all have ended, each under a line with its number. Only a
GPT continues several texts.

DRAWING: --repetition-penalty lowers the scores of tokens that occur in the
prompt or the text. Scores are divided by --temperature; then --top-k, then
--top-p and then --min-p leave the most likely tokens, of which one is drawn by
its probability. --temperature 0 always takes the most likely token.

WEIGHTS: --weights FILE writes the attention weights of each layer: a tensor
(H, T, T) named by the layer's path, a row for each query, over the last tokens
of prompt and text that fit in the model's window. The metadata "tokens" holds
their texts.

END: after --tokens tokens, before a --stop text or at one of the model's
end-of-text tokens. Ctrl-C ends it too, with exit code 130. A newline follows
the text. On a terminal control characters are shown escaped; elsewhere prompt
and text are printed as they are.`

const example = `  attention generate --model gpt2 --prompt "The meaning of attention is"
  attention generate --model runs/first --prompt "It is" --tokens 300
  attention generate --model runs/first --prompt "It is" --temperature 0.5
  attention generate --model gpt2 --prompt "It is" --weights weights.safetensors
  attention generate --model gpt2 --prompt "It is" --samples 4 --tokens 30
  attention generate --model gpt2 --prompt-file question.txt --stop $'\n\n'`
