"""Adapters as PEFT writes them, and the losses that it has with them: torch 2.15.0, transformers 5.24.0, peft 0.21.2.

    python adapters.py            writes bases/NAME, adapters/NAME and cases.json beside this file
    python adapters.py JOBS OUT   writes to OUT the losses with the adapters that JOBS lists: [{"base": DIR, "adapter": DIR}, …]

Bases are models of two layers and 17 tokens of transformers' classes, with random weights. Each adapter's weights are
random, too, and no longer 0. nll are the negative log-likelihoods of the tokens that follow those of IDS, in float64,
with the folder as PEFT loads it; base is the mean without the adapter. losses are the means before each of three steps
of gradient descent with the rate 0.02 of what PEFT trains."""
import json, os, shutil, sys, warnings

import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [16, 0, 7, 7, 12, 8, 15, 11]])

SIZES = dict(vocab_size=17, hidden_size=8, intermediate_size=12, num_hidden_layers=2, num_attention_heads=2,
             max_position_embeddings=32, pad_token_id=None, bos_token_id=None, eos_token_id=None)
HALF = dict(num_key_value_heads=1)
BASES = {  # class, config, type of the weights
    "llama": ("Llama", dict(HALF, tie_word_embeddings=False), torch.float32),
    "llama_tied": ("Llama", dict(HALF, tie_word_embeddings=True), torch.bfloat16),
    "mistral": ("Mistral", dict(HALF, tie_word_embeddings=False, head_dim=4, sliding_window=None), torch.float32),
    "qwen2": ("Qwen2", dict(HALF, tie_word_embeddings=True), torch.float32),
    "qwen3": ("Qwen3", dict(HALF, tie_word_embeddings=False, head_dim=4), torch.bfloat16),
    "smollm3": ("SmolLM3", dict(HALF, tie_word_embeddings=True), torch.float32),
    "olmo2": ("Olmo2", dict(HALF, tie_word_embeddings=False), torch.float32),
    "gemma2": ("Gemma2", dict(HALF, head_dim=4, query_pre_attn_scalar=4), torch.float32),
    "gemma3": ("Gemma3", dict(HALF, head_dim=4, query_pre_attn_scalar=4), torch.float32),
    "gpt_neox": ("GPTNeoX", dict(tie_word_embeddings=False, rope_parameters={
        "rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}), torch.float32),
    "gpt2": ("GPT2", dict(vocab_size=17, n_positions=32, n_embd=8, n_layer=2, n_head=2, pad_token_id=None,
                          bos_token_id=None, eos_token_id=None, embd_pdrop=0, attn_pdrop=0, resid_pdrop=0), torch.float32),
}
LINEAR = {"target_modules": "all-linear"}
EMBED, HEAD = ["embed_tokens"], ["lm_head"]
CASES = {  # of an adapter: its base, and the LoraConfig
    **{name: (name, LINEAR) for name in BASES},
    "head": ("llama", dict(target_modules=["lm_head", "q_proj"])),
    "head_tied": ("llama_tied", dict(target_modules=["lm_head", "q_proj"])),
    "embeddings": ("llama", dict(target_modules=["embed_tokens", "q_proj"])),
    "embeddings_tied": ("llama_tied", dict(target_modules=["embed_tokens", "q_proj"])),
    "embeddings_with_head": ("qwen2", dict(target_modules=["embed_tokens", "q_proj"], ensure_weight_tying=True)),
    "gemma_embeddings": ("gemma3", dict(target_modules=["embed_tokens", "q_proj"])),
    "gpt2_embeddings": ("gpt2", dict(target_modules=["wte", "c_attn"])),
    "neox_head": ("gpt_neox", dict(target_modules=["lm_head", "embed_in", "query_key_value"])),
    "save_embeddings": ("llama", dict(target_modules=["q_proj"], modules_to_save=EMBED)),
    "save_embeddings_tied": ("llama_tied", dict(target_modules=["q_proj"], modules_to_save=EMBED)),
    "save_embeddings_with_head": ("llama_tied", dict(target_modules=["q_proj"], modules_to_save=EMBED,
                                                     ensure_weight_tying=True)),
    "save_head": ("gpt_neox", dict(target_modules=["dense"], modules_to_save=HEAD)),
    "save_head_tied": ("qwen2", dict(target_modules=["q_proj"], modules_to_save=HEAD)),
    "save_both_tied": ("gemma2", dict(target_modules=["q_proj"], modules_to_save=EMBED + HEAD)),
    "save_norms": ("olmo2", dict(target_modules=["q_proj"], modules_to_save=["norm"])),
    "ranks": ("llama", dict(target_modules=["q_proj", "v_proj", "gate_proj"], use_rslora=True, lora_alpha=3,
                            rank_pattern={"q_proj": 3, r"layers\.0\.mlp\.gate_proj": 1},
                            alpha_pattern={"v_proj": 5, "^model.layers.1.*gate_proj": 2})),
    "neox_ranks": ("gpt_neox", dict(target_modules=["query_key_value", "dense"], rank_pattern={"query_key_value": 5},
                                    alpha_pattern={"dense": 1})),
    "biases": ("qwen2", dict(target_modules=["q_proj", "o_proj"], bias="all")),
    "biases_of_targets": ("gpt_neox", dict(target_modules=["query_key_value"], bias="lora_only")),
    "biases_and_norms": ("gpt_neox", dict(target_modules=["query_key_value"], bias="all",
                                          modules_to_save=["final_layer_norm", "attention.dense"])),
    "gpt2_biases": ("gpt2", dict(target_modules=["c_attn", "c_fc"], bias="all")),
    "adapter_biases": ("gpt_neox", dict(target_modules=["query_key_value", "dense_h_to_4h"], lora_bias=True)),
    "adapter_and_other_biases": ("gpt2", dict(target_modules=["c_attn"], lora_bias=True, bias="lora_only")),
    "one_layer": ("llama", dict(target_modules=["q_proj", "up_proj"], layers_to_transform=[1], layers_pattern="layers")),
    "excluded": ("mistral", dict(target_modules="all-linear", exclude_modules=".*q_proj")),
    "pattern": ("qwen3", dict(target_modules=r".*layers\.[01]\.self_attn\.[qk]_proj", init_lora_weights="gaussian")),
}


def make_base(name, generator):
    kind, config, dtype = BASES[name]
    text = "Text" if kind == "Gemma3" else ""
    sizes = {} if kind == "GPT2" else SIZES
    config = getattr(transformers, f"{kind}{text}Config")(**{**sizes, **config})
    model = getattr(transformers, f"{kind}LMHeadModel" if kind == "GPT2" else f"{kind}ForCausalLM")(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.4 if parameter.dim() > 1 else 0.1, generator=generator)
        for key, parameter in model.named_parameters():
            if "norm" in key and key.endswith("weight") and not kind.startswith("Gemma") or ".ln_" in key and key.endswith("weight"):
                parameter += 1
    folder = os.path.join(HERE, "bases", name)
    model.to(dtype).save_pretrained(folder)
    os.remove(os.path.join(folder, "generation_config.json"))


def load(base, adapter=None, trained=False):
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation="eager").double()
    if adapter:
        model = PeftModel.from_pretrained(model, adapter, is_trainable=trained)
    return model.double().eval()


def losses_of(model):
    logits = model(IDS).logits
    return torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), IDS[:, 1:].flatten(), reduction="none")


def judge(base, adapter):
    with torch.no_grad():
        return {"nll": losses_of(load(base, adapter)).tolist(), "base": losses_of(load(base)).mean().item()}


def trained_losses(base, adapter):
    model, losses = load(base, adapter, True), []
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.02)
    for _ in range(3):
        optimizer.zero_grad()
        loss = losses_of(model).mean()
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
    return losses


def make_adapter(name, generator):
    base, config = CASES[name]
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_pretrained(os.path.join("bases", base))
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **{"r": 2, "lora_alpha": 3, **config}))
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if parameter.requires_grad and "lora_" in key:
                parameter.normal_(0, 0.3, generator=generator)
            elif parameter.requires_grad:
                parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
    folder = os.path.join("adapters", name)
    model.save_pretrained(folder)
    os.remove(os.path.join(folder, "README.md"))
    text = json.load(open(os.path.join(folder, "adapter_config.json")))
    for key in ("target_modules", "exclude_modules", "modules_to_save"):
        if isinstance(text[key], list):  # sets, whose order differs from run to run
            text[key] = sorted(text[key])
    json.dump(text, open(os.path.join(folder, "adapter_config.json"), "w"), indent=2)
    base = os.path.join("bases", base)
    return {**judge(base, folder), "losses": trained_losses(base, folder)}


def main():
    if len(sys.argv) == 3:
        json.dump([judge(job["base"], job["adapter"]) for job in json.load(open(sys.argv[1]))], open(sys.argv[2], "w"))
        return
    os.chdir(HERE)
    for name in ("bases", "adapters"):
        shutil.rmtree(name, ignore_errors=True)
    generator = torch.Generator().manual_seed(7)
    for name in BASES:
        make_base(name, generator)
    cases = {name: make_adapter(name, generator) for name in CASES}
    with open("cases.json", "w") as out:
        out.write("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps({'of': CASES[name][0], **case})}"
                                      for name, case in cases.items()) + "\n}\n")


main()
