"""Writes renderings.json: rows of conversations and the texts that transformers' apply_chat_template makes of them.

Made with transformers 5.24.0 and tokenizers 0.23.3 under Python 3.11. Run it in this directory.

The template writes each message as JSON, as the template sees it: keys that are null are absent, and the reasoning is
there by two names. A row's tools and chat_template_kwargs are passed as TRL 1.16's SFTTrainer passes them.
"""
import json

import tokenizers
import transformers

TEMPLATE = ("{% for m in messages %}{{ m | tojson }}\n{% endfor %}"
            "{% if tools %}{{ tools | tojson }}\n{% endif %}"
            "{{ 'quiet' if enable_thinking is defined and not enable_thinking else 'thinks' }} {{ language }}")

ASK = {"role": "user", "content": "Oslo?"}
CALL = [{"type": "function", "function": {"name": "f", "arguments": {"b": 1, "a": "é"}}}]
TOOL = [{"type": "function", "function": {"name": "f", "description": "of a city", "parameters": {
    "type": "object", "properties": {"b": {"type": "number"}, "a": {"type": "string"}}}}}]


def answer(**keys):
    return {"role": "assistant"} | keys


ROWS = [
    {"messages": [ASK, answer(content="Rain.")]},
    {"messages": [ASK, answer(tool_calls=CALL), {"role": "tool", "content": "Rain"}, answer(content="Rain.")]},
    {"messages": [ASK, answer(content=None, tool_calls=CALL), {"role": "tool", "content": "Rain"}, answer(content="Rain.")]},
    {"messages": [ASK, answer(content="", tool_calls=CALL), {"role": "tool", "content": "Rain"}, answer(content="Rain.")]},
    {"messages": [ASK, answer(content="Rain.", tool_calls=None, name=None)]},
    {"messages": [ASK, answer(content="Rain.", reasoning="Wet.")]},
    {"messages": [ASK, answer(content="Rain.", thinking="Wet.")]},
    {"messages": [ASK, answer(content="Rain.", reasoning_content="Wet.")]},
    {"messages": [ASK, answer(content="Rain.", reasoning="1", thinking="2")]},
    {"messages": [ASK, answer(content="Rain.", reasoning="1", thinking="2", reasoning_content="3")]},
    {"messages": [ASK, answer(content="Rain.", reasoning="1", thinking=None)]},
    {"messages": [ASK, answer(content="Rain.", reasoning_content="")]},
    {"messages": [ASK, answer(content=[{"type": "text", "text": "Rain"}, {"type": "text", "text": "."}])]},
    {"messages": [ASK, answer(content="Rain.")], "tools": TOOL},
    {"messages": [ASK, answer(content="Rain.")], "tools": json.dumps(TOOL)},
    {"messages": [ASK, answer(content="Rain.")], "tools": []},
    {"messages": [ASK, answer(content="Rain.")], "chat_template_kwargs": {"enable_thinking": False, "language": "Sámi"}},
]

tokenizer = transformers.PreTrainedTokenizerFast(
    tokenizer_object=tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a")))
written = []
for row in ROWS:
    tools = row.get("tools")
    text = tokenizer.apply_chat_template(row["messages"], chat_template=TEMPLATE, tokenize=False,
                                         tools=json.loads(tools) if isinstance(tools, str) else tools,
                                         **row.get("chat_template_kwargs", {}))
    written.append({"row": row, "text": text})
with open("renderings.json", "w", encoding="utf-8") as file:
    json.dump({"template": TEMPLATE, "rows": written}, file, ensure_ascii=False, indent=1)
    file.write("\n")
