"""ggufvalues.py MODELS: what transformers computes with the weights of MODELS/smollm2.gguf, for the tests.

The weights are those of gguf.dequantize in float32; MODELS/smollm2 has them rounded. It writes beside itself

    smollm2_gguf.safetensors    greedy.N    int64: the ids of a conversation and of the answer without sampling
                                logprobs.N  (T, columns) of greedy.N: log-probabilities of the tokens in columns
                                columns     int64

Made with torch 2.15.0, transformers 5.24.0 and gguf 0.19.0 on Python 3.11.
"""
import os
import sys

import gguf
import numpy
import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

torch.set_num_threads(1)
here = os.path.dirname(os.path.abspath(__file__))
folder = sys.argv[1] + "/smollm2"
tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
weights = model.state_dict()
PARTS = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
PARTS |= {"attn_" + part: f"self_attn.{part[0]}_proj" for part in ("q", "k", "v", "output")}
PARTS |= {"ffn_" + part: f"mlp.{part}_proj" for part in ("gate", "up", "down")}
HEADS = {"attn_q": model.config.num_attention_heads, "attn_k": model.config.num_key_value_heads}
changed = 0
for tensor in gguf.GGUFReader(folder + ".gguf").tensors:
    *layer, part, kind = tensor.name.split(".")
    numbers = gguf.dequantize(tensor.data, tensor.tensor_type).reshape(tuple(tensor.shape)[::-1])
    if part in HEADS:
        pairs = numbers.reshape(HEADS[part], -1, 2, numbers.shape[-1])  # (heads, pairs, 2, E)
        numbers = numpy.moveaxis(pairs, 2, 1).reshape(numbers.shape)
    name = f"model.layers.{layer[1]}.{PARTS[part]}" if layer else {"token_embd": "model.embed_tokens",
                                                                  "output_norm": "model.norm"}[part]
    weights[f"{name}.{kind}"].copy_(torch.from_numpy(numpy.array(numbers)))
    changed += 1
assert changed == len(weights) - 1, (changed, len(weights))  # the head is tied

columns = torch.arange(0, model.config.vocab_size, 1024)
tensors = {"columns": columns}
for i, prompt in enumerate(["What is the capital of France?", "Add 17 and 25."]):
    ids = tokenizer.apply_chat_template([{"role": "user", "content": prompt}], add_generation_prompt=True,
                                        return_tensors="pt", return_dict=True)["input_ids"]
    with torch.no_grad():
        whole = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=24, do_sample=False)
        tensors[f"greedy.{i}"] = whole[0]
        tensors[f"logprobs.{i}"] = model(whole).logits[0].log_softmax(-1)[:, columns].contiguous()
    print(prompt, "→", tokenizer.decode(whole[0, ids.shape[1]:]))
save_file(tensors, here + "/smollm2_gguf.safetensors")
