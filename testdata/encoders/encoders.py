"""Small encoders with random weights, and what transformers computes with them.

For every case it writes a folder beside itself:

    config.json, model.safetensors   as save_pretrained writes them, in float64
    tokenizer.json                   a WordPiece tokenizer, one of train/text/testdata/tokenizers/wordpiece.json
    modules.json, 1_Pooling/config.json   of sentence-transformers, where the case has a pooling
    values.safetensors               in float64:
        ids, types, lengths          int64 (B, T), (B, T) and (B)
        vectors                      (B, T, E), those of padding 0
        mean, cls, max               (B, E), the vectors of the texts by each kind of pooling
        loss                         sum of vectors * weights, with weights (B, T, E), those of padding 0
        grad.<name>                  of the loss, for each weight by its name in the folder

The cases in HEADS have a folder with a head, where head.safetensors holds ids, types, lengths and, in float64,

        labels                       int64: classes (B), or classes or ids (B, T) that are -100 where no token is
                                     predicted; numbers (B, 1) with one label
        logits                       (B, C), or (B, T, C) or (B, T, V), those of padding 0
        loss                         the cross entropy that transformers computes; with one label, PyTorch's
                                     binary_cross_entropy_with_logits
        grad.<name>                  of the loss
        text                         (C), the logits of the text in TEXT, of a head with classes

Made with torch 2.15.0, transformers 5.24.0 and tokenizers 0.23.3 on Python 3.11: python encoders.py [NAME...]
"""
import json
import os
import shutil
import sys

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, BertForTokenClassification, BertModel,
                          DistilBertConfig, DistilBertForMaskedLM, DistilBertForSequenceClassification,
                          DistilBertForTokenClassification, DistilBertModel)

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_num_threads(1)
with open(os.path.join(HERE, "../../train/text/testdata/tokenizers/wordpiece.json")) as f:
    TOKENIZER = json.load(f)[0]["tokenizer"]
V = len(TOKENIZER["model"]["vocab"])
B, T, LENGTHS = 3, 7, [7, 1, 4]

BERT = dict(vocab_size=V, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
            max_position_embeddings=24, type_vocab_size=2, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1)
DISTILBERT = dict(vocab_size=V, dim=8, n_layers=2, n_heads=2, hidden_dim=12, max_position_embeddings=24)
TEXT = "The words of hello, in the café!"
LABELS = {0: "bad", 1: "good", 2: "so so"}
TAGS = dict(enumerate(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]))
CASES = {
    "bert": (BertModel, BertConfig(**BERT), "mean"),
    "bert_relu": (BertModel, BertConfig(**{**BERT, "type_vocab_size": 1}, hidden_act="relu", layer_norm_eps=1e-3), "cls"),
    "bert_head": (BertForMaskedLM, BertConfig(**BERT), None),
    "distilbert": (DistilBertModel, DistilBertConfig(**DISTILBERT), "max"),
}
HEADS = {
    "bert_head": (BertForMaskedLM, BertConfig(**BERT)),
    "bert_class": (BertForSequenceClassification, BertConfig(**BERT, id2label=LABELS,
                                                             label2id={v: k for k, v in LABELS.items()})),
    "distilbert_class": (DistilBertForSequenceClassification, DistilBertConfig(**DISTILBERT)),
    "distilbert_mask": (DistilBertForMaskedLM, DistilBertConfig(**DISTILBERT)),
    "bert_tags": (BertForTokenClassification, BertConfig(**BERT, id2label=TAGS, label2id={v: k for k, v in TAGS.items()})),
    "distilbert_tags": (DistilBertForTokenClassification, DistilBertConfig(**DISTILBERT, num_labels=3)),
    "bert_pair": (BertForSequenceClassification, BertConfig(**BERT, num_labels=1)),
    "distilbert_pair": (DistilBertForSequenceClassification, DistilBertConfig(
        **DISTILBERT, num_labels=1, sentence_transformers={"activation_fn": "torch.nn.modules.linear.Identity"})),
}


def write(path, value):
    with open(path, "w") as f:
        json.dump(value, f, indent=1, ensure_ascii=False)


def folder(name, kind, config):
    """Returns a model with random weights and the path of its new folder."""
    torch.manual_seed(17 if name == "bert_tags" else 3)  # 17: all classes come
    model = kind(config).double().eval()
    for key, p in model.named_parameters():
        gain = "ayer_norm.weight" in key or "LayerNorm.weight" in key
        torch.nn.init.normal_(p, mean=float(gain), std=0.3 if p.dim() < 2 else 0.6)
    to = os.path.join(HERE, name)
    shutil.rmtree(to, ignore_errors=True)
    model.save_pretrained(to)
    for file in os.listdir(to):
        if file not in ("config.json", "model.safetensors"):
            os.remove(os.path.join(to, file))
    with open(os.path.join(to, "tokenizer.json"), "w") as f:
        json.dump(TOKENIZER, f, ensure_ascii=False)
    return model, to


def make(name, kind, config, pooling):
    model, to = folder(name, kind, config)
    if pooling:
        write(os.path.join(to, "modules.json"), [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}] + [
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}] * (name == "bert"))
        os.mkdir(os.path.join(to, "1_Pooling"))
        write(os.path.join(to, "1_Pooling/config.json"), {"word_embedding_dimension": 8, "pooling_mode": pooling}
              if name == "distilbert" else {"word_embedding_dimension": 8, "pooling_mode_cls_token": pooling == "cls",
                                            "pooling_mode_mean_tokens": pooling == "mean",
                                            "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False})
    ids = torch.randint(0, V, (B, T))
    types = torch.randint(0, 2, (B, T)) if getattr(config, "type_vocab_size", 0) > 1 else torch.zeros(B, T).long()
    lengths = torch.tensor(LENGTHS)
    seen = torch.arange(T) < lengths[:, None]
    more = {"token_type_ids": types} if config.model_type == "bert" else {}
    base = model.bert if kind is BertForMaskedLM else model
    x = base(input_ids=ids, attention_mask=seen.long(), **more).last_hidden_state * seen[..., None]
    weights = torch.randn_like(x) * seen[..., None]
    loss = (x * weights).sum()
    loss.backward()
    values = {"ids": ids, "types": types, "lengths": lengths, "vectors": x, "weights": weights, "loss": loss.reshape(1),
              "mean": x.sum(1) / lengths[:, None], "cls": x[:, 0],
              "max": x.masked_fill(~seen[..., None], -torch.inf).amax(1)}
    for key, p in model.named_parameters():
        if p.grad is not None and "pooler" not in key:
            values["grad." + key] = p.grad
    save_file({k: v.detach().contiguous() for k, v in values.items()}, os.path.join(to, "values.safetensors"))


def head(name, kind, config):
    if name in CASES:
        model, to = kind.from_pretrained(os.path.join(HERE, name), dtype=torch.float64).eval(), os.path.join(HERE, name)
    else:
        model, to = folder(name, kind, config)
    torch.manual_seed(5)
    ids, lengths = torch.randint(1, V, (B, T)), torch.tensor(LENGTHS)  # transformers does not train the row of id 0
    types = torch.randint(0, 2, (B, T)) if config.model_type == "bert" else torch.zeros(B, T).long()
    seen = torch.arange(T) < lengths[:, None]
    if "Token" in kind.__name__:
        labels = torch.randint(0, config.num_labels, (B, T)).masked_fill(~seen | (torch.rand(B, T) < 0.4), -100)
    elif config.num_labels == 1:
        labels = torch.tensor([[0.0], [1.0], [0.25]])
    elif "Masked" in kind.__name__:
        labels = torch.randint(0, V, (B, T)).masked_fill(~seen | (torch.rand(B, T) < 0.4), -100)
    else:
        labels = torch.arange(B) % config.num_labels
    more = {"token_type_ids": types} if config.model_type == "bert" else {}
    if config.num_labels == 1:
        out = model(input_ids=ids, attention_mask=seen.long(), **more)
        out.loss = torch.nn.functional.binary_cross_entropy_with_logits(out.logits, labels.double())
    else:
        out = model(input_ids=ids, attention_mask=seen.long(), labels=labels, **more)
    out.loss.backward()
    logits = out.logits * seen[..., None] if out.logits.dim() == 3 else out.logits
    values = {"ids": ids, "types": types, "lengths": lengths, "labels": labels, "logits": logits,
              "loss": out.loss.reshape(1)}
    for key, p in model.named_parameters():
        values["grad." + key] = p.grad
    if logits.dim() == 2:
        text = Tokenizer.from_str(json.dumps(TOKENIZER)).encode(TEXT).ids
        values["text"] = model(torch.tensor([text])).logits[0]
    save_file({k: v.detach().contiguous() for k, v in values.items()}, os.path.join(to, "head.safetensors"))


only = sys.argv[1:]
for name, case in CASES.items():
    if not only or name in only:
        make(name, *case)
for name, case in HEADS.items():
    if not only or name in only:
        head(name, *case)
