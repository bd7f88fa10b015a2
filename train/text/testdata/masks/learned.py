"""learned.py TOKENIZER [OUT]: which tokens transformers' masks of generation blocks count.

Without OUT it prints masks.json: the templates of this folder over the conversations below, with the tokenizer of the
file TOKENIZER. Each rendering has what is counted in braces.

With OUT, a folder, it writes there what TRL's training templates count in random conversations: tokenizer.json, the
tokenizer with the special tokens of the templates, and masks.jsonl: for each template a line with its source and that of
the template without generation blocks, and for each of 100 conversations a line with the text, the ids and the mask, or
the error.

Made with trl 1.16 and transformers 5.24. Without them the script exits with 77.
"""
import importlib.util, json, pathlib, random, re, sys

try:
    import transformers.tokenization_utils_base as base
    import transformers.utils.chat_template_utils as templates
    from transformers import PreTrainedTokenizerFast
    trl = pathlib.Path(importlib.util.find_spec("trl").submodule_search_locations[0], "chat_templates")
except (ImportError, AttributeError):
    print("there are no transformers or no trl")
    sys.exit(77)

class Clock(templates.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 11, 5, 13, 7)
templates.datetime = Clock

rendered = []  # the last text
render = base.render_jinja_template
def keeping(*args, **kwargs):
    texts, spans = render(*args, **kwargs)
    rendered[:] = texts
    return texts, spans
base.render_jinja_template = keeping

def masked(tokenizer, source, messages, tools, **options):
    """The text of a conversation, its ids, the mask, and the text with what is counted in braces."""
    made = tokenizer.apply_chat_template(messages, tools=tools, chat_template=source, return_dict=True,
                                         return_assistant_tokens_mask=True, **options)
    text, shown, on, end = rendered[0], "", 0, 0
    for mask, (start, stop) in zip(made["assistant_masks"], made.encodings[0].offsets):
        shown += text[end:start] + ("" if mask == on else "{" if mask else "}") + text[start:stop]
        on, end = mask, stop
    return text, made["input_ids"], made["assistant_masks"], shown + ("}" if on else "") + text[end:]

call = {"type": "function", "id": "abcdefghi", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}
tools = [{"type": "function", "function": {"name": "weather", "description": "of a city",
          "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]
user = lambda content: {"role": "user", "content": content}
assistant = lambda content, **more: {"role": "assistant", "content": content} | more

conversations = {
    "two": [user("Hi"), assistant("the answer"), user("And?"), assistant("it is\n")],
    "the assistant first": [assistant("Hello"), user("Hi"), assistant("Yo"), user("x"), assistant("y")],
    "the user last": [user("Hi"), assistant("Yo"), user("Bye")],
    "a call": [user("Oslo?"), assistant("", tool_calls=[call]), {"role": "tool", "content": "18 C"}, assistant("18.")],
    "an empty answer": [user("Hi"), assistant(""), user("Hm?"), assistant("")],
    "two answers": [{"role": "system", "content": "Be it."}, user("Hi"), assistant("a"), assistant("b")],
    "thoughts": [user("2+2?"), assistant("4", reasoning_content="two"), user("3+3?"), assistant("6", reasoning_content="three")],
}

def conversation(draw, parts):
    """A random conversation, its tools and whether thinking is on."""
    texts = ["the answer", "Hi", "it is\nall", " the\n", "Ünïcödé 日本", "a <b> c", "is it?", "4", "x = {1: 2}\n\n", ""]
    content = lambda: [{"type": "text", "text": draw.choice(texts)}] if parts else draw.choice(texts)
    messages, calls = [], draw.random() < 0.25
    if draw.random() < 0.4:
        messages.append({"role": "system", "content": content()})
    if draw.random() < 0.1:
        messages.append(assistant(content()))
    thoughtful = draw.random() < 0.2
    for turn in range(draw.randint(1, 4)):
        messages.append(user(content()))
        if calls and draw.random() < 0.6:
            asks = assistant(draw.choice(["", "Let me see."]), tool_calls=[call])
            if draw.random() < 0.3:
                del asks["content"]
            messages += [asks, {"role": "tool", "name": "weather", "tool_call_id": "abcdefghi", "content": "18 C"}]
        answer = assistant(content())
        if thoughtful and draw.random() < 0.7:
            if draw.random() < 0.5 or parts:
                answer[draw.choice(["reasoning_content", "thinking", "reasoning"])] = "so it is"
            else:
                answer["content"] = "<think>\nso\n</think>\n\n" + answer["content"]
        messages.append(answer)
        if draw.random() < 0.05:
            messages.append(assistant(content()))
    if draw.random() < 0.1:
        messages.append(user(content()))
    return messages, tools if calls else None, draw.choice([None, None, None, False])

def kinds():
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=sys.argv[1], bos_token="<|endoftext|>", eos_token="<|endoftext|>")
    made = {}
    for path in sorted(pathlib.Path(__file__).parent.glob("*.jinja")):
        of = made[path.name] = {}
        for title, messages in conversations.items():
            of[title] = masked(tokenizer, path.read_text(), messages, None)[3]
    json.dump({"conversations": conversations, "masks": made}, sys.stdout, ensure_ascii=False, indent=1)
    print()

def training(out):
    sources = {p.stem: p.read_text() for p in sorted(trl.glob("*.jinja"))}
    looks = r"<\|[^|<>\s]+\|>|<｜[^｜<>\s]+｜>|</?s>|<\w+_of_\w+>|\[/?INST\]|<\|\w+>|<\w+\|>|<end_of_utterance>"
    special = sorted({token for source in sources.values() for token in re.findall(looks, source)} | {"<s>", "</s>"})
    file = json.load(open(sys.argv[1]))
    known = 1 + max(list(file["model"]["vocab"].values()) + [t["id"] for t in file["added_tokens"]])
    for i, token in enumerate(special):
        file["added_tokens"].append({"id": known + i, "content": token, "special": True, "normalized": False,
                                     "lstrip": False, "rstrip": False, "single_word": False})
    (out / "tokenizer.json").write_text(json.dumps(file))
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(out / "tokenizer.json"), bos_token="<s>", eos_token="</s>")
    lines = open(out / "masks.jsonl", "w")
    put = lambda line: print(json.dumps(line), file=lines)
    for name, source in sources.items():
        if "endgeneration" not in source:
            continue
        plain = sources[name.removesuffix("_training")]
        put({"template": name, "source": source, "plain": plain if "endgeneration" not in plain else ""})
        draw = random.Random(name)
        for _ in range(100):
            messages, given, thinking = conversation(draw, "['content'][0]" in source)
            line = {"messages": messages, "tools": given, "enable_thinking": thinking}
            try:
                text, ids, mask, _ = masked(tokenizer, source, messages, given,
                                            **({} if thinking is None else {"enable_thinking": thinking}))
                put(line | {"text": text, "ids": ids, "mask": mask})
            except Exception as e:
                put(line | {"error": str(e)})

if len(sys.argv) > 2:
    training(pathlib.Path(sys.argv[2]))
else:
    kinds()
