package apply

import "attention/layers/apply"

// help is the command's help text, with the reference of its files.
var help = `Run one attention layer on tensors from safetensors files and write its output
to another one, so that a program in any language can use or check it.

` + apply.Reference + `
ERRORS: An error is one line, and the exit code is 1. The output file is written
beside its place and then renamed: it is complete or, after an error, as it was
before. It must be none of the files that are read.`

const example = `  Save a layer and an input from PyTorch:

    from safetensors.torch import save_file
    mha = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    save_file(mha.state_dict(), "w.safetensors")
    save_file({"query": x, "lengths": lengths,
               "grad_output": torch.ones(2, 7, 12)}, "in.safetensors")

  Describe the layer:

    echo '{"layer": "attention", "layout": "torch", "embed_dim": 12,
           "num_heads": 3, "qkv_bias": true, "out_bias": true,
           "mask": {"type": "causal"}}' > layer.json

  Run it:

    attention apply --config layer.json --weights w.safetensors \
        --input in.safetensors --output out.safetensors`
