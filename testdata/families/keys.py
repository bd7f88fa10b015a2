"""keys.py OUT: the keys of config.json from which transformers computes the logits of each family, by its source.

OUT gets, for each family, the keys that its modeling and configuration files read, and "rope" with those of
rope_parameters. A key counts if code reads it that the class for causal language models can reach: its own module,
the masks and the rotary positions. What from_pretrained itself reads, such as tie_word_embeddings and
quantization_config, is not among them. keys.json was made with transformers 5.24.0.
"""
import ast
import dataclasses
import inspect
import json
import sys

import transformers
from transformers import configuration_utils, masking_utils, modeling_rope_utils

FAMILIES = {"gpt2": "GPT2", "llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3",
            "smollm3": "SmolLM3", "olmo2": "Olmo2", "gemma2": "Gemma2", "gemma3_text": "Gemma3", "gpt_neox": "GPTNeoX"}
ROPE = ("rope_parameters", "rope_parameters_dict", "rope_params")


def definitions(module):
    """Returns the module's top-level classes, functions and values by name."""
    found = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[node.name] = node
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            if isinstance(target, ast.Name):
                found[target.id] = node
    return found


def reached(defined, start):
    """Yields the definitions that those named by start refer to, and their own."""
    waiting, seen = list(start), set()
    while waiting:
        name = waiting.pop()
        if name in defined and name not in seen:
            seen.add(name)
            for part in ast.walk(defined[name]):  # how weights begin is not read from a folder
                if isinstance(part, ast.ClassDef):
                    part.body = [n for n in part.body if getattr(n, "name", "") != "_init_weights"]
            yield defined[name]
            waiting += [n.id for n in ast.walk(defined[name]) if isinstance(n, ast.Name)]


def last(node):
    """Returns the last part of a dotted name: rope_parameters of self.config.rope_parameters[…]."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def read(node, owners, rope):
    """Yields the keys that code reads from a value of one of the owners' names, and adds rope_parameters' to rope."""
    text = lambda n: n.value if isinstance(n, ast.Constant) and isinstance(n.value, str) else None
    for n in ast.walk(node):
        if isinstance(n, ast.Attribute) and last(n.value) in owners and isinstance(n.ctx, ast.Load):
            yield n.attr
        if isinstance(n, ast.Subscript) and last(n.value) in ROPE and text(n.slice):
            rope.add(text(n.slice))
        if not isinstance(n, ast.Call) or not n.args:
            continue
        called = last(n.func)
        if called in ("getattr", "hasattr") and last(n.args[0]) in owners and text(n.args[1]):
            yield text(n.args[1])
        if called in ("pop", "get", "setdefault"):
            if "self" in owners and last(n.func.value) == "kwargs" and text(n.args[0]):
                yield text(n.args[0])
            if last(n.func.value) in ROPE and text(n.args[0]):
                rope.add(text(n.args[0]))


def methods(of, names):
    return [n for n in ast.walk(of) if isinstance(n, ast.FunctionDef) and n.name in names]


all_keys, rope = {}, set()
shared = ("__post_init__", "convert_rope_params_to_dict", "standardize_rope_params")
for name, prefix in FAMILIES.items():
    modeling = inspect.getmodule(getattr(transformers, prefix + "ForCausalLM" if name != "gpt2" else "GPT2LMHeadModel"))
    config = getattr(transformers, prefix + ("TextConfig" if name == "gemma3_text" else "Config"))
    of_model = definitions(modeling)
    start = [n for n in of_model if n in (prefix + "ForCausalLM", "GPT2LMHeadModel")]
    code = list(reached(of_model, start))
    used = {n.id for part in code for n in ast.walk(part) if isinstance(n, ast.Name)}
    for module in (masking_utils, modeling_rope_utils):
        code += reached(definitions(module), [n for n in used if n not in of_model])
    keys = {key for part in code for key in read(part, ("config", "effective_config"), rope)}
    turns = "rope_parameters" in keys
    for module, classes in ((inspect.getmodule(config), [config.__name__]),
                            (configuration_utils, ["PreTrainedConfig"]),
                            (modeling_rope_utils, ["RotaryEmbeddingConfigMixin"] if turns else [])):
        for part in classes:
            for method in methods(definitions(module)[part], shared):
                keys |= {k for k in read(method, ("self",), rope) if turns or not k.startswith("rope_")}
    fields = {f.name for f in dataclasses.fields(config)}
    keys |= {of for pair in config.attribute_map.items() if set(pair) & keys for of in pair}
    plain = {k for k in keys if k not in fields and hasattr(config, k) and not isinstance(getattr(config, k), property)}
    all_keys[name] = sorted(k for k in keys - plain if not k.startswith("_"))
with open(sys.argv[1], "w") as f:
    lines = [f"{json.dumps(n)}: {json.dumps(k)}" for n, k in (all_keys | {"rope": sorted(rope)}).items()]
    f.write("{\n" + ",\n".join(lines) + "\n}\n")
