package chat

const help = `Talks with a language model in the terminal: each line that you write is a
message, and the model's answer appears as it is drawn.

  - Ctrl-C stops the answer; what there is of it stays in the talk.
  - Ctrl-D and /bye end the talk, as /exit and /quit do.
  - /reset begins a new talk, with the same system message.
  - /save FILE writes the talk to a new .jsonl file, as attention's and
    others' fine-tuning takes it: {"messages": [...]}.
  - /help and /? print this list. A blank before the / makes the line a message.

When the input is no terminal each of its lines is a message, too: only answers
are printed, each with a newline after it, and Ctrl-C ends the command. Messages
that are refused make the command fail at its end.

MODEL: --model is a folder or a run as of attention generate, not of one
attention layer. A talk is written as the model has learned it: by its
chat_template.jinja or the chat_template of its tokenizer_config.json. A folder
without them needs --template: chatml (<|im_start|> and <|im_end|> around each
message, which must be tokens of the model), alpaca (instructions and responses
under headings, the prompt of fine-tuned base models) or a file with a template.
Models that can think before they answer are asked not to, except for those that
were tuned with thoughts.

An answer ends at one of the model's end-of-text tokens, at what the template
writes after an answer, or after --tokens tokens.

CONTEXT: keys and values of the talk stay in memory, so that a message costs its
own tokens; where the template changes earlier messages, as Qwen 3's drops
thoughts, what comes after the change is read again. --stats shows it. When the
window of the model, or --context, is full, the oldest turns, a message and its
answer each, are forgotten until half of it is free; a line says how many. The
system message is not forgotten, and /save has everything that was said.

On a terminal control characters in an answer are shown escaped.`

const example = `  attention chat --model Qwen3-0.6B
  attention chat --model SmolLM2 --system "Answer in one sentence."
  attention chat --model gpt2 --template alpaca --temperature 0
  attention chat --model Qwen3-0.6B < questions.txt > answers.txt`

// commands is what /help prints.
const commands = `/reset      begins a new talk
/save FILE  writes the talk to a new .jsonl file for fine-tuning
/help, /?   prints this
/bye        ends the talk, as /exit and /quit do
A line that begins with a blank is a message, also with a / after it.
Ctrl-C stops an answer, Ctrl-D ends the talk.
`
