"""Writes lessons.json: what TRL's SFTTrainer makes of rows of texts, and of prompts and completions, without a template.

Made with TRL 1.16.0, transformers 5.24.0 and tokenizers 0.23.3 under Python 3.11. Run it in this directory.

Each entry has a tokenizer.json and rows with their ids and, for pairs, the mask of the completion. The first tokenizer
begins texts with nothing, the second with <s>. Both end them with </s>; <turn> is another added token.
"""
import json
import types

import datasets
import tokenizers
import transformers
import trl
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

WORDS = "the answer is the answer to it all, the question is the question of them all " * 20
ROWS = [
    {"text": "the answer"}, {"text": "the answer</s>"}, {"text": "the answer</s>\n"}, {"text": "the</s> answer"},
    {"text": "<turn>the answer<turn>"}, {"text": " the  answer\n"}, {"text": "</s>"}, {"text": "é🙂"},
    {"prompt": "the question", "completion": " is the answer"}, {"prompt": "the quest", "completion": "ion is"},
    {"prompt": "the question ", "completion": "is"}, {"prompt": "the question", "completion": " it</s>"},
    {"prompt": "<turn>the question<turn>", "completion": "the answer<turn>"}, {"prompt": "", "completion": "the answer"},
    {"prompt": "the question", "completion": ""}, {"prompt": "is</s>", "completion": "it"},
]


def learned(begins):
    t = tokenizers.Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator([WORDS], trainers.BpeTrainer(
        vocab_size=290, special_tokens=["<s>", "</s>", "<turn>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False))
    if begins:
        t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return t


def prepared(tokenizer, row):
    """Returns the columns that the trainer makes of a row."""
    trainer = types.SimpleNamespace(_tokenizer=tokenizer, completion_only_loss=True, chat_template=None)
    args = trl.SFTConfig(output_dir="unused", max_length=None, use_cpu=True, bf16=False, report_to=[])
    return trl.SFTTrainer._prepare_dataset(trainer, datasets.Dataset.from_list([row]), tokenizer, args, False, None, "x")[0]


written = []
for begins in (False, True):
    engine = learned(begins)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=engine, eos_token="</s>")
    rows = []
    for row in ROWS:
        columns = prepared(tokenizer, row)
        mask = columns.get("labels")
        rows.append({"row": row, "ids": columns["input_ids"],
                     "learned": [label != -100 for label in mask] if mask else [True] * len(columns["input_ids"])})
    written.append({"tokenizer": json.loads(engine.to_str()), "rows": rows})
with open("lessons.json", "w", encoding="utf-8") as file:
    json.dump(written, file, ensure_ascii=False, separators=(",", ":"))
    file.write("\n")
