"""values.py MODELS: what transformers computes with the published models, for the tests.

It writes beside itself, by the model MODELS/smollm2 in float32:

    smollm2.safetensors    greedy.N    int64: the ids of a conversation and of the answer without sampling
                           logits.N    (T, columns) of greedy.N at the tokens in columns
                           columns     int64
                           sentence    int64 (T), and attention (L, H, T, T): all heads' weights for it
    smollm2_texts.json     texts with what is hard for tokenizers, and their ids

Made with torch 2.15.0 and transformers 5.24.0 on Python 3.11.
"""
import json
import os
import random
import sys

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

torch.set_num_threads(1)
here = os.path.dirname(os.path.abspath(__file__))
folder = sys.argv[1] + "/smollm2"
tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()

PROMPTS = ["What is the capital of France?", "Write a short poem about the sea.", "Add 17 and 25.",
           "Translate to German: good morning"]
columns = torch.arange(0, model.config.vocab_size, 512)
tensors = {"columns": columns}
for i, prompt in enumerate(PROMPTS):
    ids = tokenizer.apply_chat_template([{"role": "user", "content": prompt}], add_generation_prompt=True,
                                        return_tensors="pt", return_dict=True)["input_ids"]
    with torch.no_grad():
        whole = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=24, do_sample=False)
        tensors[f"greedy.{i}"] = whole[0]
        tensors[f"logits.{i}"] = model(whole).logits[0][:, columns].contiguous()
    print(prompt, "→", tokenizer.decode(whole[0, ids.shape[1]:]))
sentence = tokenizer("The animal didn't cross because it was tired", return_tensors="pt")["input_ids"]
with torch.no_grad():
    weights = model(sentence, output_attentions=True).attentions
tensors |= {"sentence": sentence[0], "attention": torch.stack([w[0] for w in weights])}
save_file(tensors, here + "/smollm2.safetensors")

PIECES = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2028", "\u200b", "\ufeff", "\x00", "a", "The", " word",
          "naïve", "İ", "ß",
          "ﬁ", "'s", "'LL", "don't", "0", "1234", "3.14", "٣", "½", "Ⅷ", "...", "—", "(){", "<|im_start|>", "<|im_end|>",
          "<|endoftext|>", "<|", "|>", "<repo_name>", "$9", "€", "😀", "👩‍👩‍👧‍👦", "👍🏽", "❤️", "नमस्ते", "ไทย", "日本語", "한국어", "русский",
          "עברית", "العربية", "𝔘𝔫𝔦", "\ue000", "\ufffd", "x́", "ạ̄", "\u0301", "ｆｕｌｌ", "https://x.y/z?q=1", "\n\n\n\n"]
r = random.Random(3)
rows = []
for _ in range(150):
    text = "".join(r.choice(PIECES) for _ in range(r.randint(1, 8)))
    rows.append({"text": text, "ids": tokenizer(text, add_special_tokens=False)["input_ids"]})
with open(here + "/smollm2_texts.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
