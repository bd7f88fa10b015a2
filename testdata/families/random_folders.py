"""random_folders.py OUT COUNT SEED [BYTES]: random small folders by transformers' own classes, with what they compute.

Each folder of OUT is written by save_pretrained: one of ten families with a random form (sizes, positions, windows,
soft caps, biases, type of weights, shards). Every second one is then put into the words of transformers 4, and some
keys are added by hand, as users do. Beside the model lie

    values.safetensors   ids, int64 (B, T), and the logits (B, T, V) of the folder as transformers reads it, in float64

transformers computes norms, softmax and positions in float32. Here the modules of models get a torch whose float32 is
float64, so that all is computed in float64. What transformers refuses is drawn again, and so are folders of more than
BYTES. Those in transformers/ beside this file were made with `random_folders.py transformers 40 7 9000`, torch 2.15.0
and transformers 5.24.0. The test that reads them reads those of another folder if ATTENTION_FOLDERS names it.
"""
import glob
import json
import os
import random
import shutil
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, modeling_rope_utils

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
torch.set_num_threads(1)
FAMILIES = {"gpt2": "GPT2", "llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3",
            "smollm3": "SmolLM3", "olmo2": "Olmo2", "gemma2": "Gemma2", "gemma3_text": "Gemma3", "gpt_neox": "GPTNeoX"}
POSITIONS = 16


class Float64:
    """torch, but with float64 in place of float32."""
    float = float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


def model_class(family):
    return transformers.GPT2LMHeadModel if family == "gpt2" else getattr(transformers, FAMILIES[family] + "ForCausalLM")


def config_class(family):
    return getattr(transformers, FAMILIES[family] + ("TextConfig" if family == "gemma3_text" else "Config"))


def logits(folder, ids):
    """Returns what the folder's model computes, in float64."""
    family = json.load(open(folder + "/config.json"))["model_type"]
    modules = sys.modules[model_class(family).__module__], modeling_rope_utils
    to = torch.Tensor.float
    try:
        for module in modules:
            module.torch = Float64()
        torch.Tensor.float = torch.Tensor.double
        model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto", attn_implementation="eager").double().eval()
        with torch.no_grad():
            return model(ids).logits
    finally:
        for module in modules:
            module.torch = torch
        torch.Tensor.float = to


def rope(r, kinds):
    """Returns random rope_parameters without theta."""
    kind = r.choice(kinds)
    p = {"rope_type": kind}
    if kind in ("linear", "dynamic", "yarn", "llama3", "proportional"):
        p["factor"] = r.choice([1.5, 2.0, 4.0, 8.0])
    if kind == "llama3":
        p |= {"low_freq_factor": r.choice([0.5, 1.0]), "high_freq_factor": r.choice([2.0, 4.0]),
              "original_max_position_embeddings": r.choice([8, 64, 512])}
    if kind == "yarn":
        if r.random() < 0.7:
            p["original_max_position_embeddings"] = r.choice([4, 8, 32, 128, 4096])
        for key, values in (("beta_fast", [4.0, 32.0]), ("beta_slow", [0.5, 1.0]), ("attention_factor", [0.7, 1.3]),
                            ("truncate", [True, False])):
            if r.random() < 0.25:
                p[key] = r.choice(values)
        if r.random() < 0.3:
            p |= {"mscale": r.choice([0.707, 1.0]), "mscale_all_dim": r.choice([0.5, 1.0])}
    if kind == "longrope":
        n = 4
        p |= {"short_factor": [1.0 + i / 4 for i in range(n)], "long_factor": [2.0 + i for i in range(n)],
              "factor": 4.0, "original_max_position_embeddings": 8}
    return p


def draw(r, family):
    """Returns the keys of a random model of a family."""
    heads = r.choice([1, 2, 4])
    kv = r.choice([n for n in (1, 2, 4) if heads % n == 0])
    width = r.choice([2, 4, 8])
    layers = r.choice([1, 2, 3, 4])
    tied = r.random() < 0.5
    if family == "gpt2":
        return {"vocab_size": r.choice([11, 17]), "n_positions": POSITIONS, "n_embd": heads * width, "n_layer": layers,
                "n_head": heads, "n_inner": r.choice([None, 10]), "layer_norm_epsilon": r.choice([1e-5, 1e-3]),
                "activation_function": r.choice(["gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "relu", "relu2",
                                                 "silu", "swish"]), "tie_word_embeddings": tied,
                "reorder_and_upcast_attn": r.random() < 0.2, "bos_token_id": 0, "eos_token_id": 0}
    c = {"vocab_size": r.choice([11, 17]), "hidden_size": heads * width, "intermediate_size": r.choice([6, 10]),
         "num_hidden_layers": layers, "num_attention_heads": heads, "max_position_embeddings": POSITIONS,
         "tie_word_embeddings": tied, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": None}
    kinds = ["default"] * 4 + ["linear", "dynamic", "yarn", "yarn", "llama3", "llama3", "longrope", "proportional"]
    theta = {"rope_theta": r.choice([10000.0, 100.0, 1e6])}
    c["rope_parameters"] = rope(r, kinds) | theta
    types = [r.choice(["full_attention", "sliding_attention"]) for _ in range(layers)]
    if family == "gpt_neox":
        c |= {"hidden_act": r.choice(["gelu", "gelu_new", "relu", "silu", "gelu_fast"]),
              "layer_norm_eps": r.choice([1e-5, 1e-3]),
              "use_parallel_residual": r.random() < 0.5, "attention_bias": r.random() < 0.7}
        if r.random() < 0.8:
            c["rope_parameters"]["partial_rotary_factor"] = r.choice([0.25, 0.5, 1.0])
        return c
    c |= {"num_key_value_heads": kv, "rms_norm_eps": r.choice([1e-6, 1e-5, 1e-3])}
    if r.random() < 0.6:
        c["head_dim"] = r.choice([4, 6, 8])
    if family in ("gemma2", "gemma3_text"):
        c |= {"hidden_activation": r.choice(["gelu_pytorch_tanh", "gelu", "silu"]),
              "head_dim": c.get("head_dim", width), "query_pre_attn_scalar": r.choice([4, 7, 256]), "sliding_window": r.choice([2, 3, 5]),
              "attn_logit_softcapping": r.choice([None, 2.0, 50.0]),
              "final_logit_softcapping": r.choice([None, 3.0, 30.0]),
              "attention_bias": r.random() < 0.3}
        if r.random() < 0.5:
            c["layer_types"] = types
        if family == "gemma3_text":
            full, local = rope(r, kinds) | theta, {"rope_type": "default", "rope_theta": r.choice([100.0, 10000.0])}
            c["rope_parameters"] = {"full_attention": full, "sliding_attention": local}
        return c
    c["hidden_act"] = r.choice(["silu", "silu", "gelu", "gelu_pytorch_tanh", "gelu_new"])
    if family in ("llama", "qwen3", "smollm3", "olmo2"):
        c["attention_bias"] = r.random() < 0.3
    if family in ("llama", "smollm3"):
        c["mlp_bias"] = r.random() < 0.3
    if family == "mistral":
        c["sliding_window"] = r.choice([None, 2, 4, 64])
    if family in ("qwen2", "qwen3"):
        c |= {"use_sliding_window": r.random() < 0.6, "sliding_window": r.choice([2, 4]),
              "max_window_layers": r.choice([0, 1, 2])}
        if c["use_sliding_window"] and r.random() < 0.5:
            c["layer_types"] = types
    if family == "smollm3":
        c |= {"use_sliding_window": r.random() < 0.6, "sliding_window": r.choice([2, 4]),
              "no_rope_layer_interval": r.choice([2, 3, 4])}
        if r.random() < 0.4:
            c["no_rope_layers"] = [r.choice([0, 1]) for _ in range(layers)]
        if r.random() < 0.4:
            c["layer_types"] = types
    return c


def older(r, c):
    """Puts a config.json into the words of transformers 4."""
    p, family = c.pop("rope_parameters", None), c["model_type"]
    if "dtype" in c:
        c["torch_dtype"] = c.pop("dtype")
    c["transformers_version"] = "4.51.3"
    if family == "gpt2":
        return c | {"n_ctx": POSITIONS}
    if family == "gemma3_text":
        c["rope_local_base_freq"] = p["sliding_attention"]["rope_theta"]
        p = p["full_attention"]
    c["rope_theta"] = p.pop("rope_theta")
    if family == "gpt_neox":
        c["rotary_emb_base"], c["rotary_pct"] = c.pop("rope_theta"), p.pop("partial_rotary_factor", 0.25)
    c["rope_scaling"] = None if p["rope_type"] == "default" else p
    if c["rope_scaling"] and family != "gemma3_text" and r.random() < 0.5:
        p["type"] = p.pop("rope_type")
    if family in ("qwen2", "qwen3", "gemma2", "gemma3_text", "smollm3") and r.random() < 0.5:
        c.pop("layer_types", None)
        if family == "gemma3_text" and r.random() < 0.5:
            c["sliding_window_pattern"] = r.choice([2, 3])
        elif family == "gemma2":
            c["sliding_window_size"] = c["sliding_window"]
    return c


def by_hand(r, c):
    """Adds keys to a config.json as users do, and some that nobody reads."""
    family, key = c["model_type"], r.random()
    if key < 0.2 and family != "gpt2":
        c["rope_scaling"] = rope(r, ["linear", "yarn", "llama3", "dynamic"])
        if family == "gemma3_text" and not isinstance((c.get("rope_parameters") or {}).get("full_attention", {}), dict):
            del c["rope_scaling"]
    elif key < 0.4 and family not in ("gpt2", "gpt_neox"):
        parameters = c.get("rope_parameters")
        (parameters["full_attention"] if family == "gemma3_text" and parameters else parameters or c)[
            "partial_rotary_factor"] = r.choice([0.5, 1.0])
    elif key < 0.5 and family != "gpt2":
        c["original_max_position_embeddings"] = r.choice([8, 64])
    elif key < 0.6:
        c |= {"_flash_attn_2_enabled": True, "max_sequence_length": 99, "model_max_length": 99, "unk_token_id": 0,
              "hidden_dropout_prob": 0.1, "unsloth_fixed": True, "neuron": {"a": 1}}
    elif key < 0.8 and family == "gpt2":
        c |= {"hidden_size": c["n_embd"], "num_attention_heads": c["n_head"]}
    return c


def write(folder, family, r):
    """Writes a folder. Transformers may refuse it."""
    config = config_class(family)(**draw(r, family))
    model = model_class(family)(config).eval()
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.5)
        if p.dim() == 1 and r.random() < 0.5:
            p.data += 1
    dtype = r.choice([torch.float32, torch.float32, torch.bfloat16, torch.float16, torch.float64])
    model.to(dtype).save_pretrained(folder, max_shard_size=r.choice(["5GB", "5GB", "2KB"]))
    path = folder + "/config.json"
    c = json.load(open(path))
    if r.random() < 0.5:
        c = older(r, c)
        if family == "gpt_neox" and r.random() < 0.5:
            for name in glob.glob(folder + "/*.safetensors"):
                w = load_file(name)
                save_file({k.replace("lm_head.", "embed_out."): v for k, v in w.items()}, name, {"format": "pt"})
            index = folder + "/model.safetensors.index.json"
            if os.path.exists(index):
                text = open(index).read()
                open(index, "w").write(text.replace('"lm_head.', '"embed_out.'))
    c = by_hand(r, c)
    json.dump(c, open(path, "w"), indent=1)
    for extra in glob.glob(folder + "/generation_config.json"):
        os.remove(extra)
    ids = torch.tensor([[r.randrange(c["vocab_size"]) for _ in range(7)] for _ in range(2)])
    exact = logits(folder, ids)
    with torch.no_grad():
        plain = AutoModelForCausalLM.from_pretrained(folder, dtype="auto").float().eval()(ids).logits
    torch.testing.assert_close(plain.double(), exact, rtol=1e-3, atol=1e-3)
    save_file({"ids": ids, "logits": exact.contiguous()}, folder + "/values.safetensors")
    size = sum(os.path.getsize(name) for name in glob.glob(folder + "/*"))
    if size > most:
        raise ValueError(f"{size} bytes")


out, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
most = int(sys.argv[4]) if len(sys.argv) > 4 else 1 << 30
r, done, refused = random.Random(seed), 0, 0
torch.manual_seed(seed)
while done < count:
    family = list(FAMILIES)[done % len(FAMILIES)]
    folder = f"{out}/{done:03}_{family}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        write(folder, family, r)
        done += 1
    except Exception as e:
        refused += 1
        if os.environ.get("VERBOSE"):
            print(f"{folder}: drawn again: {type(e).__name__}: {str(e)[:150]}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
print(f"{done} folders, {refused} draws again")
