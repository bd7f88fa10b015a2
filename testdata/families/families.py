"""Model families in plain PyTorch: a small folder of each, and what its model computes.

For every case it writes a folder beside itself:

    config.json                the keys that transformers writes
    model.safetensors          random weights in the folder's type; or two shards and their index
    values.safetensors         in float64:
        ids, targets           int64 (B, T)
        logits                 (B, T, V)
        loss                   mean cross entropy
        grad.<name>            of the loss, for each weight by its name in the folder
        greedy                 int64: ids[0, :3] and the most probable tokens after them

The forms are written from the papers and from what the families' folders hold. Made with torch
1.13.0a0 (Debian's python3-torch 1.13.1) on Python 3.11.
"""
import json
import math
import os
import sys

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../torch"))
import golden

V, B, T, POSITIONS = 17, 2, 7, 16


# Parts.

def rms(x, weight, eps):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def linear(w, name, x):
    return F.linear(x, w[name + ".weight"], w.get(name + ".bias"))


def layer_norm(w, name, x, eps):
    return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], eps)


def frequencies(dims, base, scaling=None):
    """Returns the radians a position of each pair, and what multiplies the turned pairs."""
    f = base ** -(torch.arange(0, dims, 2) / dims)
    s = scaling or {}
    kind = s.get("rope_type", s.get("type", "default"))
    if kind == "linear":
        return f / s["factor"], 1
    if kind == "llama3":
        turns = s["original_max_position_embeddings"] * f / (2 * math.pi)
        low, high = s["low_freq_factor"], s["high_freq_factor"]
        mix = ((turns - low) / (high - low)).clamp(0, 1)
        return (1 - mix) * f / s["factor"] + mix * f, 1
    if kind == "yarn":
        def pair(turns):
            return dims * math.log(s["original_max_position_embeddings"] / (turns * 2 * math.pi)) / (2 * math.log(base))
        low, high = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), dims - 1)
        slow = ((torch.arange(dims // 2) - low) / max(high - low, 0.001)).clamp(0, 1)
        return slow * f / s["factor"] + (1 - slow) * f, 0.1 * math.log(s["factor"]) + 1
    return f, 1


def turn(x, f, gain=1):
    """Turns the pairs (i, i + n) of the first 2n elements of x (..., T, D) by position."""
    n = len(f)
    angle = torch.arange(x.shape[-2])[:, None] * f  # (T, n)
    a, b, rest = x[..., :n], x[..., n:2 * n], x[..., 2 * n:]
    cos, sin = gain * angle.cos(), gain * angle.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)


def attend(q, k, v, scale, window=None, cap=None):
    """q (B, H, T, D), k and v (B, K, T, D); a window counts the query's own position."""
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = scale * q @ k.transpose(-1, -2)
    if cap:
        scores = cap * torch.tanh(scores / cap)
    t = torch.arange(q.shape[-2])
    distance = t[:, None] - t
    hidden = distance < 0
    if window:
        hidden |= distance >= window
    return scores.masked_fill(hidden, -math.inf).softmax(-1) @ v


def heads(x, n):
    return x.unflatten(-1, (n, -1)).transpose(-2, -3)  # (B, n, T, D)


def joined(x):
    return x.transpose(-2, -3).flatten(-2)


# Families. Each maps its weights, config and ids to logits.

def gpt2(w, c, ids):
    def affine(name, x):
        return x @ w[name + ".weight"] + w[name + ".bias"]
    x = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"][:ids.shape[1]]
    n, eps = c["n_head"], c["layer_norm_epsilon"]
    for i in range(c["n_layer"]):
        at = f"transformer.h.{i}."
        q, k, v = (heads(t, n) for t in affine(at + "attn.c_attn", layer_norm(w, at + "ln_1", x, eps)).chunk(3, -1))
        x = x + affine(at + "attn.c_proj", joined(attend(q, k, v, q.shape[-1] ** -0.5)))
        x = x + affine(at + "mlp.c_proj", gelu_tanh(affine(at + "mlp.c_fc", layer_norm(w, at + "ln_2", x, eps))))
    return layer_norm(w, "transformer.ln_f", x, eps) @ w["transformer.wte.weight"].T


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gpt_neox(w, c, ids):
    x = w["gpt_neox.embed_in.weight"][ids]
    n, eps = c["num_attention_heads"], c["layer_norm_eps"]
    width = c["hidden_size"] // n
    rope = c.get("rope_parameters") or {"rope_theta": c["rotary_emb_base"], "partial_rotary_factor": c["rotary_pct"]}
    f, _ = frequencies(int(width * rope["partial_rotary_factor"]), rope["rope_theta"])
    for i in range(c["num_hidden_layers"]):
        at = f"gpt_neox.layers.{i}."

        def attention(x):
            qkv = linear(w, at + "attention.query_key_value", x).unflatten(-1, (n, 3, width))  # each head's own three
            q, k, v = (t.transpose(1, 2) for t in qkv.unbind(-2))
            return linear(w, at + "attention.dense", joined(attend(turn(q, f), turn(k, f), v, width ** -0.5)))

        def mlp(x):
            h = linear(w, at + "mlp.dense_h_to_4h", x)
            return linear(w, at + "mlp.dense_4h_to_h", h * 0.5 * (1 + torch.erf(h / math.sqrt(2))))
        a = attention(layer_norm(w, at + "input_layernorm", x, eps))
        y = x if c["use_parallel_residual"] else x + a
        m = mlp(layer_norm(w, at + "post_attention_layernorm", y, eps))
        x = x + a + m
    return layer_norm(w, "gpt_neox.final_layer_norm", x, eps) @ w.get(
        "embed_out.weight", w["gpt_neox.embed_in.weight"]).T


def llama_like(w, c, ids, window=lambda i: None, rope=lambda i: None, qk_norm=None, order="pre", offset=0, scale=None,
               act=F.silu, embedding=1):
    """Llama and its kin: order says where norms are, window and rope what layer i sees and how it turns."""
    eps, h, kv = c["rms_norm_eps"], c["num_attention_heads"], c["num_key_value_heads"]
    x = w["model.embed_tokens.weight"][ids] * embedding
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."

        def norm(name, x):
            return rms(x, offset + w[at + name + ".weight"], eps)

        def attention(x):
            q, k, v = (linear(w, f"{at}self_attn.{p}_proj", x) for p in "qkv")
            if qk_norm == "whole":
                q, k = norm("self_attn.q_norm", q), norm("self_attn.k_norm", k)
            q, k, v = heads(q, h), heads(k, kv), heads(v, kv)
            if qk_norm == "heads":
                q, k = norm("self_attn.q_norm", q), norm("self_attn.k_norm", k)
            turned = rope(i)
            if turned:
                f, gain = frequencies(q.shape[-1], *turned)
                q, k = turn(q, f, gain), turn(k, f, gain)
            y = attend(q, k, v, scale or q.shape[-1] ** -0.5, window(i), c.get("attn_logit_softcapping"))
            return linear(w, at + "self_attn.o_proj", joined(y))

        def mlp(x):
            gate, up = (linear(w, f"{at}mlp.{p}_proj", x) for p in ("gate", "up"))
            return linear(w, at + "mlp.down_proj", act(gate) * up)
        if order == "pre":
            x = x + attention(norm("input_layernorm", x))
            x = x + mlp(norm("post_attention_layernorm", x))
        elif order == "output":
            x = x + norm("post_attention_layernorm", attention(x))
            x = x + norm("post_feedforward_layernorm", mlp(x))
        else:
            x = x + norm("post_attention_layernorm", attention(norm("input_layernorm", x)))
            x = x + norm("post_feedforward_layernorm", mlp(norm("pre_feedforward_layernorm", x)))
    x = rms(x, offset + w["model.norm.weight"], eps)
    logits, cap = x @ w.get("lm_head.weight", w["model.embed_tokens.weight"]).T, c.get("final_logit_softcapping")
    return cap * torch.tanh(logits / cap) if cap else logits


def one_rope(c):
    p = c.get("rope_parameters") or {**(c.get("rope_scaling") or {}), "rope_theta": c.get("rope_theta", 10000.0)}
    return p["rope_theta"], p


def llama(w, c, ids):
    return llama_like(w, c, ids, rope=lambda i: one_rope(c))


def mistral(w, c, ids):
    return llama_like(w, c, ids, rope=lambda i: one_rope(c), window=lambda i: c["sliding_window"])


def qwen_window(c):
    return lambda i: c["sliding_window"] if c["use_sliding_window"] and i >= c["max_window_layers"] else None


def qwen2(w, c, ids):
    return llama_like(w, c, ids, rope=lambda i: one_rope(c), window=qwen_window(c))


def qwen3(w, c, ids):
    return llama_like(w, c, ids, rope=lambda i: one_rope(c), window=qwen_window(c), qk_norm="heads")


def smollm3(w, c, ids):
    def window(i):
        return c["sliding_window"] if c["layer_types"][i] == "sliding_attention" else None

    def rope(i):
        if "no_rope_layers" in c:
            return one_rope(c) if c["no_rope_layers"][i] else None
        return None if (i + 1) % c["no_rope_layer_interval"] == 0 else one_rope(c)
    return llama_like(w, c, ids, window=window, rope=rope)


def olmo2(w, c, ids):
    return llama_like(w, c, ids, rope=lambda i: one_rope(c), qk_norm="whole", order="output")


def gemma_scale(c):
    """The scale of embeddings, rounded to the folder's type as it is there."""
    dtype = getattr(torch, c.get("dtype", c.get("torch_dtype")))
    return torch.tensor(c["hidden_size"] ** 0.5, dtype=dtype).double()


def gemma2(w, c, ids):
    return llama_like(w, c, ids, rope=lambda i: one_rope(c), window=lambda i: None if i % 2 else c["sliding_window"],
                      order="both", offset=1, scale=c["query_pre_attn_scalar"] ** -0.5, act=gelu_tanh,
                      embedding=gemma_scale(c))


def gemma3_text(w, c, ids):
    def local(i):
        if "layer_types" in c:
            return c["layer_types"][i] == "sliding_attention"
        return (i + 1) % c["sliding_window_pattern"] != 0

    def rope(i):
        if "rope_parameters" in c:
            p = c["rope_parameters"]["sliding_attention" if local(i) else "full_attention"]
            return p["rope_theta"], p
        return (c["rope_local_base_freq"], None) if local(i) else (c["rope_theta"], c["rope_scaling"])
    return llama_like(w, c, ids, rope=rope, window=lambda i: c["sliding_window"] if local(i) else None, qk_norm="heads",
                      order="both", offset=1, scale=c["query_pre_attn_scalar"] ** -0.5, act=gelu_tanh,
                      embedding=gemma_scale(c))


# Shapes of the weights.

def gpt2_shapes(c):
    e, f = c["n_embd"], c["n_inner"] or 4 * c["n_embd"]
    s = {"transformer.wte.weight": (V, e), "transformer.wpe.weight": (POSITIONS, e)}
    for i in range(c["n_layer"]):
        for name, shape in {"ln_1": (e,), "attn.c_attn": (e, 3 * e), "attn.c_proj": (e, e), "ln_2": (e,),
                            "mlp.c_fc": (e, f), "mlp.c_proj": (f, e)}.items():
            s[f"transformer.h.{i}.{name}.weight"], s[f"transformer.h.{i}.{name}.bias"] = shape, shape[-1:]
    return {**s, "transformer.ln_f.weight": (e,), "transformer.ln_f.bias": (e,)}


def gpt_neox_shapes(c):
    e, f = c["hidden_size"], c["intermediate_size"]
    s = {"gpt_neox.embed_in.weight": (V, e)}
    for i in range(c["num_hidden_layers"]):
        for name, shape in {"input_layernorm": (e,), "post_attention_layernorm": (e,),
                            "attention.query_key_value": (3 * e, e), "attention.dense": (e, e),
                            "mlp.dense_h_to_4h": (f, e), "mlp.dense_4h_to_h": (e, f)}.items():
            s[f"gpt_neox.layers.{i}.{name}.weight"] = shape
            if c.get("attention_bias", True) or not name.startswith("attention."):
                s[f"gpt_neox.layers.{i}.{name}.bias"] = shape[:1]
    s.update({"gpt_neox.final_layer_norm.weight": (e,), "gpt_neox.final_layer_norm.bias": (e,)})
    return s if c["tie_word_embeddings"] else {**s, "embed_out.weight": (V, e)}


def llama_shapes(c, norms=("input_layernorm", "post_attention_layernorm")):
    e, f, h, kv = c["hidden_size"], c["intermediate_size"], c["num_attention_heads"], c["num_key_value_heads"]
    d = c.get("head_dim") or e // h
    s = {"model.embed_tokens.weight": (V, e)}
    qkv_bias = c["model_type"] == "qwen2" or c.get("attention_bias")
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."
        products = {"self_attn.q_proj": (h * d, e), "self_attn.k_proj": (kv * d, e), "self_attn.v_proj": (kv * d, e),
                    "self_attn.o_proj": (e, h * d), "mlp.gate_proj": (f, e), "mlp.up_proj": (f, e),
                    "mlp.down_proj": (e, f)}
        for name, shape in products.items():
            s[at + name + ".weight"] = shape
            if (c.get("mlp_bias") if "mlp" in name else qkv_bias if "o_proj" not in name else c.get("attention_bias")):
                s[at + name + ".bias"] = shape[:1]
        s.update({at + norm + ".weight": (e,) for norm in norms})
        if c["model_type"] in ("qwen3", "gemma3_text"):
            s[at + "self_attn.q_norm.weight"] = s[at + "self_attn.k_norm.weight"] = (d,)
        if c["model_type"] == "olmo2":
            s[at + "self_attn.q_norm.weight"], s[at + "self_attn.k_norm.weight"] = (h * d,), (kv * d,)
    s["model.norm.weight"] = (e,)
    return s if c.get("tie_word_embeddings", True) else {**s, "lm_head.weight": (V, e)}  # absent only in Gemma's, tied


def output_shapes(c):
    return llama_shapes(c, ("post_attention_layernorm", "post_feedforward_layernorm"))


def sandwich_shapes(c):
    return llama_shapes(c, ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                            "post_feedforward_layernorm"))


FAMILIES = {"gpt2": (gpt2, gpt2_shapes), "gpt_neox": (gpt_neox, gpt_neox_shapes), "llama": (llama, llama_shapes),
            "mistral": (mistral, llama_shapes), "qwen2": (qwen2, llama_shapes), "qwen3": (qwen3, llama_shapes),
            "smollm3": (smollm3, llama_shapes), "olmo2": (olmo2, output_shapes), "gemma2": (gemma2, sandwich_shapes),
            "gemma3_text": (gemma3_text, sandwich_shapes)}

# Cases: config.json as transformers writes it, small.

LLAMA = {"architectures": ["LlamaForCausalLM"], "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": 1,
         "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 12, "initializer_range": 0.02, "intermediate_size": 10,
         "max_position_embeddings": POSITIONS, "model_type": "llama", "num_attention_heads": 3, "num_hidden_layers": 2,
         "num_key_value_heads": 3, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": None,
         "tie_word_embeddings": False, "torch_dtype": "float16", "transformers_version": "4.32.0", "use_cache": True,
         "vocab_size": V}
QWEN2 = {"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2,
         "hidden_act": "silu", "hidden_size": 12, "initializer_range": 0.02, "intermediate_size": 10,
         "max_position_embeddings": POSITIONS, "max_window_layers": 2, "model_type": "qwen2", "num_attention_heads": 3,
         "num_hidden_layers": 2, "num_key_value_heads": 1, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
         "sliding_window": 3, "tie_word_embeddings": True, "torch_dtype": "bfloat16", "transformers_version": "4.40.1", "use_cache": True,
         "use_mrope": False, "use_sliding_window": False, "vocab_size": V}
GEMMA3 = {"architectures": ["Gemma3ForCausalLM"], "attention_bias": False, "attention_dropout": 0.0,
          "attn_logit_softcapping": None, "bos_token_id": 2, "cache_implementation": "hybrid", "eos_token_id": [1, 5],
          "final_logit_softcapping": None, "head_dim": 4, "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 10,
          "initializer_range": 0.02, "intermediate_size": 8, "max_position_embeddings": POSITIONS,
          "model_type": "gemma3_text", "num_attention_heads": 4, "num_hidden_layers": 4, "num_key_value_heads": 2, "pad_token_id": 0,
          "query_pre_attn_scalar": 6, "rms_norm_eps": 1e-06, "rope_local_base_freq": 100.0,
          "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "rope_theta": 10000.0, "sliding_window": 3,
          "sliding_window_pattern": 3, "tie_word_embeddings": True, "torch_dtype": "bfloat16",
          "transformers_version": "4.50.0", "use_cache": True, "vocab_size": V}
NEOX = {"architectures": ["GPTNeoXForCausalLM"], "bos_token_id": 0, "eos_token_id": 0, "hidden_act": "gelu",
        "hidden_size": 12, "initializer_range": 0.02, "intermediate_size": 10, "layer_norm_eps": 1e-05,
        "max_position_embeddings": POSITIONS, "model_type": "gpt_neox", "num_attention_heads": 3,
        "num_hidden_layers": 2, "rotary_emb_base": 10000, "rotary_pct": 0.5, "tie_word_embeddings": False, "torch_dtype": "float16",
        "transformers_version": "4.24.0", "use_cache": True, "use_parallel_residual": True, "vocab_size": V}


def but(config, *removed, **changed):
    return {k: v for k, v in sorted({**config, **changed}.items()) if k not in removed}


CASES = {
    "gpt2": {
        "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 0,
        "embd_pdrop": 0.1, "eos_token_id": 0, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
        "model_type": "gpt2",
        "n_ctx": POSITIONS, "n_embd": 12, "n_head": 3, "n_inner": None, "n_layer": 1, "n_positions": POSITIONS,
        "reorder_and_upcast_attn": False, "resid_pdrop": 0.1, "scale_attn_by_inverse_layer_idx": False,
        "scale_attn_weights": True, "summary_activation": None, "summary_first_dropout": 0.1,
        "summary_proj_to_labels": True,
        "summary_type": "cls_index", "summary_use_proj": True,
        "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}}, "torch_dtype": "float32",
        "transformers_version": "4.40.0", "use_cache": True, "vocab_size": V},
    "llama": LLAMA,
    "llama3": but(LLAMA, hidden_size=10, head_dim=8, num_attention_heads=2, num_key_value_heads=1, attention_bias=True,
                  mlp_bias=True, rope_theta=500.0, tie_word_embeddings=True, torch_dtype="bfloat16",
                  eos_token_id=[2, 3],
                  rope_scaling={"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                                "original_max_position_embeddings": 32, "rope_type": "llama3"}),
    "smollm2": but(LLAMA, "rope_scaling", "torch_dtype", num_key_value_heads=1, tie_word_embeddings=True,
                   dtype="bfloat16", head_dim=None, is_llama_config=True, rope_interleaved=False, transformers_version="5.0.0",
                   rope_parameters={"rope_theta": 100000, "rope_type": "default"},
                   **{"transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16", "fp16": "float16"}}}),
    "mistral": but(LLAMA, "pretraining_tp", "rope_scaling", "attention_bias", architectures=["MistralForCausalLM"],
                   model_type="mistral", num_attention_heads=4, num_key_value_heads=2, head_dim=4, sliding_window=3,
                   rope_theta=10000.0, torch_dtype="float32"),
    "qwen2": but(QWEN2, num_attention_heads=2, num_key_value_heads=1, head_dim=None, hidden_size=16,
                 rope_theta=100.0,
                 rope_scaling={"factor": 4.0, "original_max_position_embeddings": 64, "type": "yarn"}),
    "qwen2_window": but(QWEN2, use_sliding_window=True, max_window_layers=1, num_hidden_layers=3,
                        tie_word_embeddings=False, torch_dtype="float32"),
    "qwen3": but(QWEN2, "use_mrope", architectures=["Qwen3ForCausalLM"], model_type="qwen3", attention_bias=False,
                 head_dim=6, sliding_window=None, rope_scaling=None),
    "smollm3": but(LLAMA, "rope_scaling", architectures=["SmolLM3ForCausalLM"], model_type="smollm3", mlp_bias=False,
                   num_key_value_heads=1, num_hidden_layers=3, no_rope_layers=[1, 0, 1], no_rope_layer_interval=2,
                   layer_types=["full_attention"] * 3, max_window_layers=28, use_sliding_window=False,
                   sliding_window=None, pretraining_tp=2, rope_theta=5000000.0, tie_word_embeddings=True, torch_dtype="bfloat16"),
    "smollm3_window": but(LLAMA, "rope_scaling", "torch_dtype", architectures=["SmolLM3ForCausalLM"],
                          model_type="smollm3", mlp_bias=False, num_key_value_heads=1, num_hidden_layers=3, no_rope_layer_interval=2,
                          layer_types=["full_attention", "sliding_attention", "full_attention"],
                          use_sliding_window=True, sliding_window=3, tie_word_embeddings=True, dtype="float32",
                          rope_parameters={"rope_theta": 1000.0, "rope_type": "default"}),
    "gemma3": GEMMA3,
    "gemma3_types": but(GEMMA3, "rope_local_base_freq", "rope_scaling", "rope_theta", "sliding_window_pattern",
                        "torch_dtype", "tie_word_embeddings", dtype="bfloat16", _sliding_window_pattern=3,
                        layer_types=["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
                        use_bidirectional_attention=False, num_key_value_heads=1,
                        rope_parameters={"full_attention": {"factor": 2.0, "rope_theta": 1000.0, "rope_type": "linear"},
                                         "sliding_attention": {"rope_theta": 100.0, "rope_type": "default"}}),
    "gpt_neox": NEOX,
    "gpt_neox_serial": but(NEOX, "rotary_emb_base", "rotary_pct", "torch_dtype", attention_bias=False, dtype="bfloat16",
                           attention_dropout=0.0, hidden_dropout=0.0, classifier_dropout=0.1, tie_word_embeddings=True,
                           use_parallel_residual=False, transformers_version="5.0.0", rope_parameters={
                               "partial_rotary_factor": 0.5, "rope_theta": 1000.0, "rope_type": "default"}),
    "olmo2": but(LLAMA, "pretraining_tp", architectures=["Olmo2ForCausalLM"], model_type="olmo2", num_attention_heads=6,
                 num_key_value_heads=2, hidden_size=12, rms_norm_eps=1e-06, rope_theta=500000, torch_dtype="float32"),
    "gemma2": but(GEMMA3, "rope_local_base_freq", "rope_scaling", "sliding_window_pattern",
                  architectures=["Gemma2ForCausalLM"], model_type="gemma2", attn_logit_softcapping=5.0,
                  final_logit_softcapping=3.0, hidden_act="gelu_pytorch_tanh", num_hidden_layers=2),
}
SHARDED, HEAD_TOO, OLD_BUFFERS = {"llama3"}, {"smollm2"}, {"llama", "gpt_neox"}


def random_weights(shapes, config):
    dtype, w = getattr(torch, config.get("dtype", config.get("torch_dtype"))), {}
    for name, shape in shapes.items():
        gain = len(shape) == 1 and name.endswith("weight") and not config["model_type"].startswith("gemma")
        w[name] = (0.3 * torch.randn(shape) + gain).to(dtype)
    return w


def buffers(case, config):
    """What older versions of transformers write beside the weights."""
    if case not in OLD_BUFFERS:
        return {}
    b = {}
    for i in range(config["num_hidden_layers"]):
        if case == "llama":
            b[f"model.layers.{i}.self_attn.rotary_emb.inv_freq"] = torch.rand(2).float()
            continue
        at = f"gpt_neox.layers.{i}.attention."
        b[at + "bias"] = torch.ones(1, 1, 4, 4, dtype=torch.bool).tril()
        b[at + "masked_bias"] = torch.tensor(-1e9).float()
        b[at + "rotary_emb.inv_freq"] = torch.rand(1).half()
    return b


def save_weights(folder, case, w):
    if case not in SHARDED:
        golden.save(os.path.join(folder, "model.safetensors"), w, {"format": "pt"})
        return
    files, names = {}, sorted(w)
    for i in range(2):
        file = f"model-{i + 1:05}-of-00002.safetensors"
        part = {name: w[name] for name in names[i * len(names) // 2:(i + 1) * len(names) // 2]}
        golden.save(os.path.join(folder, file), part, {"format": "pt"})
        files.update({name: file for name in part})
    size = sum(t.numel() * t.element_size() for t in w.values())
    index = {"metadata": {"total_size": size}, "weight_map": files}
    write_json(os.path.join(folder, "model.safetensors.index.json"), index)


def write_json(path, value):
    with open(path, "w") as f:
        f.write(json.dumps(value, indent=2, sort_keys=True) + "\n")


def write(case, config):
    folder = os.path.join(HERE, case)
    os.makedirs(folder, exist_ok=True)
    forward, shapes = FAMILIES[config["model_type"]]
    torch.manual_seed(sum(case.encode()))
    w = random_weights(shapes(config), config)
    extra = buffers(case, config)
    if case in HEAD_TOO:
        extra["lm_head.weight"] = w["model.embed_tokens.weight"]
    save_weights(folder, case, {**w, **extra})
    write_json(os.path.join(folder, "config.json"), config)

    leaves = {name: t.double().requires_grad_() for name, t in w.items()}
    ids, targets = torch.randint(V, (B, T)), torch.randint(V, (B, T))
    logits = forward(leaves, config, ids)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    greedy = ids[:1, :3]
    with torch.no_grad():
        while greedy.shape[1] < POSITIONS:
            last = forward(leaves, config, greedy)[:, -1]
            best = last.topk(2).values[0]
            assert best[0] - best[1] > 1e-3, f"{case}: two tokens as probable"
            greedy = torch.cat([greedy, last.argmax(-1, keepdim=True)], 1)
    values = {"ids": ids, "targets": targets, "logits": logits, "loss": loss, "greedy": greedy[0]}
    values.update({"grad." + name: t.grad for name, t in leaves.items()})
    golden.save(os.path.join(folder, "values.safetensors"), values, {"torch": torch.__version__})
    print(f"{case}: loss {loss:.4f}, largest gradient {max(t.grad.abs().max() for t in leaves.values()):.3f}")


def main():
    torch.set_default_dtype(torch.float64)
    for case, config in CASES.items():
        write(case, config)


main()
