package chat

const help = `Talk with a language model in the terminal: each line that you write is a
message, and the model's answer appears as it is drawn.

  - Ctrl-C stops the answer; the talk keeps the printed part.
  - Ctrl-D and /bye end the talk, and so do /exit and /quit.
  - /reset begins a new talk, with the same system message.
  - /save FILE writes the talk to a new .jsonl file for fine-tuning:
    {"messages": [...]}.
  - /help and /? print this list. A blank before the / makes the line a message.

If the input is not a terminal, each of its lines is a message, too: the command
prints only the answers, each with a newline after it, and Ctrl-C ends it. If a
message is refused, the command fails at its end.

MODEL: --model is a folder or a run as for attention generate, except a run of
one attention layer. A template writes the talk in the form that the model has
learned: the folder's chat_template.jinja, or the chat_template of its
tokenizer_config.json. A folder without them needs --template: chatml
(<|im_start|> and <|im_end|> around each message, which must be tokens of the
model), alpaca (instructions and responses under headings, the prompt of
fine-tuned base models) or a file with a template. Models that can think before
they answer are asked not to, unless they were tuned with thoughts.

An answer ends at one of the model's end-of-text tokens, at the text that the
template writes after an answer, or after --tokens tokens.

CONTEXT: keys and values of the talk stay in memory, so only the tokens of a new
message are computed. If a template changes earlier messages, as Qwen 3's drops
thoughts, the text after the change is computed again; --stats prints how much.
When the window of the model, or --context, is full, the oldest turns, a message
and its answer each, are dropped until half of it is free, and a line says how
many. The system message stays, and /save writes everything.

On a terminal, control characters in an answer are shown escaped.`

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
