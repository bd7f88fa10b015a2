"""smollm2.py FILE OUT: SmolLM2 from a GGUF file to a folder of transformers, its weights in bfloat16.

Q and K have their rows pair by pair in a GGUF file, and in two halves in transformers.
"""
import json
import os
import sys

import gguf
import ml_dtypes
import numpy
from safetensors.numpy import save_file

path, out = sys.argv[1:]
file = gguf.GGUFReader(path)


def value(key):
    return file.fields[key].contents()


def of_llama(key):
    return value("llama." + key)


PARTS = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
PARTS |= {"attn_" + part: f"self_attn.{part[0]}_proj" for part in ("q", "k", "v", "output")}
PARTS |= {"ffn_" + part: f"mlp.{part}_proj" for part in ("gate", "up", "down")}
OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
HEADS = {"attn_q": of_llama("attention.head_count"), "attn_k": of_llama("attention.head_count_kv")}

weights = {}
for tensor in file.tensors:
    *layer, part, kind = tensor.name.split(".")
    numbers = gguf.dequantize(tensor.data, tensor.tensor_type).reshape(tuple(tensor.shape)[::-1])
    if part in HEADS:
        pairs = numbers.reshape(HEADS[part], -1, 2, numbers.shape[-1])  # (heads, pairs, 2, E)
        numbers = numpy.moveaxis(pairs, 2, 1).reshape(numbers.shape)
    name = f"model.layers.{layer[1]}.{PARTS[part]}" if layer else OUTSIDE[part]
    weights[f"{name}.{kind}"] = numpy.ascontiguousarray(numbers.astype(ml_dtypes.bfloat16))

tokens = value("tokenizer.ggml.tokens")
ends = {name: value(f"tokenizer.ggml.{name}_token_id") for name in ("bos", "eos", "padding", "unknown")}
config = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16", "vocab_size": len(tokens),
    "hidden_size": of_llama("embedding_length"), "intermediate_size": of_llama("feed_forward_length"),
    "num_hidden_layers": of_llama("block_count"), "num_attention_heads": HEADS["attn_q"],
    "num_key_value_heads": HEADS["attn_k"], "max_position_embeddings": of_llama("context_length"),
    "rms_norm_eps": round(of_llama("attention.layer_norm_rms_epsilon"), 9), "rope_theta": of_llama("rope.freq_base"),
    "hidden_act": "silu", "attention_bias": False, "mlp_bias": False, "rope_scaling": None,
    "tie_word_embeddings": "lm_head.weight" not in weights, "bos_token_id": ends["bos"], "eos_token_id": ends["eos"],
    "pad_token_id": ends["padding"],
}
control = 3  # the type of a token that is special
added = [{"id": i, "content": tokens[i], "special": True, "normalized": False, "lstrip": False, "rstrip": False,
          "single_word": False} for i, kind in enumerate(value("tokenizer.ggml.token_type")) if kind == control]
level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
tokenizer = {
    "version": "1.0", "added_tokens": added, "normalizer": None, "post_processor": None, "decoder": level,
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, level]},
    "model": {"type": "BPE", "vocab": {token: i for i, token in enumerate(tokens)},
              "merges": value("tokenizer.ggml.merges")},
}
settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": of_llama("context_length"),
            "clean_up_tokenization_spaces": False, "chat_template": value("tokenizer.chat_template")}
settings |= {to: tokens[ends[name]] for name, to in
             {"bos": "bos_token", "eos": "eos_token", "unknown": "unk_token", "padding": "pad_token"}.items()}

os.makedirs(out, exist_ok=True)
save_file(weights, out + "/model.safetensors", {"format": "pt"})
for name, contents in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", settings)):
    with open(f"{out}/{name}.json", "w", encoding="utf-8") as to:
        json.dump(contents, to, ensure_ascii=False)
