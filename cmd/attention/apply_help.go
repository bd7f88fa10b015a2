package main

const applyHelp = `Runs one attention layer on tensors from safetensors files and writes what it
computes to another one, so that a program in any language can use or check it.

Letters: B batch, T and S lengths, H heads. Everything that has a batch axis B
may also come without one: (T, d_in) instead of (B, T, d_in).

LAYER: --config is a JSON object with these fields and no others. Names are
exact, none may come twice, and null is no value.

  layer           simple, self_v1, self_v2, causal, multi_head_wrapper,
                  multi_head or additive
  d_in            width of x; simple takes any x if it is 0 or missing
  d_out           width of the output; for multi_head_wrapper of one head's, so
                  that its output is num_heads·d_out wide
  context_length  longest T of causal, multi_head_wrapper and multi_head;
                  0 or missing: any
  num_heads       H of multi_head_wrapper and multi_head, at most 65536; for
                  multi_head a divisor of d_out
  qkv_bias        whether the projections W_query, W_key and W_value of all but
                  simple and self_v1 have a bias; missing: false
  dropout         a p with 0 <= p < 1; missing: 0. It is checked and has no
                  effect, since dropout acts in training only

A layer ignores those of these fields that it has no use for. additive has
fields of its own instead:

  d_query         width of query
  d_key           width of key
  d_attn          width that both are projected to

WEIGHTS: --weights holds the parameters by the names of PyTorch's state_dict,
all of them and no others.

  simple              none; --weights may be left out
  self_v1             W_query, W_key, W_value (d_in, d_out)
  self_v2, causal     W_query.weight, W_key.weight, W_value.weight
                      (d_out, d_in); with qkv_bias also
                      W_query.bias, W_key.bias, W_value.bias (d_out)
  multi_head_wrapper  the same for each head: heads.0.W_query.weight, …
  multi_head          as causal, and out_proj.weight (d_out, d_out),
                      out_proj.bias (d_out)
  additive            W_query.weight (d_attn, d_query),
                      W_key.weight (d_attn, d_key), v.weight (1, d_attn)

PyTorch's state_dict of causal and multi_head also holds a buffer mask, and that
of multi_head_wrapper heads.0.mask, …; these may be there and are ignored.

INPUT: --input holds

  x               (B, T, d_in)
  query, key      (B, T, d_query) and (B, S, d_key) for additive, instead of x;
                  key is also the value
  grad_output     of the output's shape, if gradients are wanted

OUTPUT: --output gets

  output          (B, T, d_out); simple (B, T, d_in), additive (B, T, d_key),
                  multi_head_wrapper (B, T, H·d_out)
  weights         the attention weights after the softmax: (B, T, T), with heads
                  (B, H, T, T), additive (B, T, S)

and, if the input holds grad_output, the gradients of the sum of
output·grad_output, each of the shape of what it belongs to:

  grad.x          or grad.query and grad.key
  grad.…          for every parameter, as in grad.W_query.weight

Numbers may be F64, F32, F16 or BF16. All are converted to --dtype, float32 or
float64, F64 to float32 by rounding to the nearest; that type is computed in and
written. Without --dtype it is float64 if x (or query) is F64, else float32.
Infinities and NaN are computed with like any other number. No tensor of the
computation may have more than 2^30 elements.

What is wrong is said in one line, and the exit code is 1. The output file is
written beside its place and then renamed: it is all there or, after an error,
as it was before. It must be none of the files that are read.`

const applyExample = `  Save a layer and an input from PyTorch:

    from safetensors.torch import save_file
    save_file(layer.state_dict(), "w.safetensors")
    save_file({"x": x, "grad_output": torch.ones(2, 6, 4)}, "in.safetensors")

  Say what the layer is:

    echo '{"layer": "multi_head", "d_in": 3, "d_out": 4, "context_length": 6,
           "num_heads": 2, "qkv_bias": false, "dropout": 0}' > layer.json

  Run it:

    attention apply --config layer.json --weights w.safetensors \
        --input in.safetensors --output out.safetensors`
