// Package finetune is the command attention finetune, which trains a model further on examples.
package finetune

import (
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/view/live"

	"github.com/spf13/cobra"
)

const help = `Train a model further on examples: conversations, instructions with answers, or
texts. --model is a folder as for attention generate. By default the model does
not change: the command trains adapters of low rank beside its linear maps
(LoRA), which are a small part of its size. --lora 0 trains the model whole, and
--whole trains parts of it whole beside adapters.

DATA: --data is a file, or a folder with train, valid and test. The extension of
a file's name gives its format:

  .jsonl      in each line {"messages": [{"role": …, "content": …}, …]},
              {"prompt": …, "completion": …}, {"text": …}, {"instruction": …,
              "input": …, "output": …} or {"conversations": [{"from": "human",
              "value": …}, …]}
  .json       an array of such objects
  .csv .tsv   a heading with such keys and a row for each, or a label and a text
  .txt        a text in each line
  .conll      a word and its tag in each line, for --task tag

--task embed trains an encoder such as all-MiniLM-L6-v2 on pairs of texts:
{"anchor": …, "positive": …}, which may have a "negative", so that an anchor is
nearer to its positive than to the other texts of the batch; or {"sentence1": …,
"sentence2": …, "score": …}, whose cosines get the order of the scores. A batch
holds no text twice. --accumulate adds no negatives, a larger --batch does, also
in the memory of a --mini-batch. --task classify trains an encoder on texts with
labels, and --task mask on texts, of which it predicts masked tokens. --task tag
trains one on sentences, {"tokens": […], "ner_tags": […]}, with the tags B-PER,
O and so on, and --task rank on {"query": …, "passage": …, "label": …}, whose
labels are from 0 to 1. Held-out examples are measured before and after.

A conversation may have "system", "tools" and "chat_template_kwargs" beside it.
Keys that are not supported and would change the loss are errors. Other keys are
named before training. The page data.md beside the manual describes all forms.

The loss covers the assistant's messages, including the token that ends each.
For plain texts it covers every token. --show 3 prints the tokens of the first
three examples and which of them are learned. A message with "weight": 0 is not
learned. The template of the model's folder, or --template, makes the text of a
conversation. Without a template, a prompt and its completion are one text, and
other conversations get the Alpaca prompt, "### Instruction:" and
"### Response:".

Short examples share rows of --context tokens, but do not see one another: loss
and gradients are those of separate rows. With linear or sparse attention each
example has a row of its own. Longer examples are cut, or left out with
--long skip.

PROGRESS: a row of the table is printed at each validation. Its training loss is
the mean of the last 50 steps. tokens/s counts all tokens of the rows, learned
or not.

DEFAULTS: a row is as long as the longest example, at most 512 tokens. A run
has three epochs, or more until there are 100 steps. The learning rate is that
of Thinking Machines' "LoRA Without Regret" (2025): adapters get ten times the
rate of a whole model, and wider models a lower rate. The command prints the
memory and the size of the checkpoints before the first step, and the remaining
time after three steps.

A run's folder holds the adapter and the state from which the run resumes. It
does not hold the model, only its path and its checksum. If the model has moved,
--base names its folder. attention generate and chat run the tuned model, and
classify, tag, rank and embed run models of the task of that name. export writes
the tuned model as one model, or the adapter alone. Ctrl-C and kill stop a run
with a checkpoint, from which --resume continues with the same bits. --view,
mpirun and kill -USR1 act as in attention train.`

const example = `  attention finetune --model runs/base --data talks.jsonl --out runs/talks
  attention finetune --model llama --data talks --lora 16 --targets v_proj
  attention finetune --model SmolLM2-135M --data talks.jsonl --show 3
  attention finetune --model all-MiniLM-L6-v2 --task embed --data pairs.jsonl
  attention finetune --resume runs/talks`

// New returns the command attention finetune.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "finetune",
		Short:   "Train a model further on conversations, texts or pairs of texts",
		Long:    help,
		Example: example,
		Args:    cobra.NoArgs,
	}
	settings.AddFlags(cmd.Flags(), settings.Finetune)
	live.Bind(cmd, execute)
	return cmd
}
