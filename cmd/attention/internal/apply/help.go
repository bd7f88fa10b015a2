package apply

const help = `Runs one attention layer on tensors from safetensors files and writes what it
computes to another one, so that a program in any language can use or check it.

Letters: B batch, T queries, S keys, H heads, K key/value heads, D width of a
head's queries and keys, Dv of its values. Everything with a batch axis B may
come without one too: (T, d_in) instead of (B, T, d_in), and () instead of (B).

CONFIG: --config is a JSON object with the field layer, the layer's own fields
and no others. Names are exact, none may come twice, and null is no value. A
field that is missing has the value in brackets, or is off; a size of 0 too.

  layer             attention, with every kind of mask, bias and position, or
                    one of the chapter's layers: simple, self_v1, self_v2,
                    causal, multi_head_wrapper, multi_head, additive

CONFIG of attention: sizes. Only d_in and num_heads must be there.

  d_in, d_out       width of query; width of the output [d_in]
  k_dim, v_dim      widths of key and value [d_in]
  num_heads         H, at most 65536
  num_kv_heads      K, a divisor of num_heads [num_heads]
  head_dim          D [d_out/num_heads]
  value_dim         Dv [D]
  qkv_bias          a bias in the projections of query, key and value
  out_bias          a bias in the output projection
  context_only      no output projection: the output is the heads' outputs side
                    by side, so that d_out is H·Dv
  layout            names and shapes of the weights: book, torch, gpt2, llama,
                    per_head or raw [book]
  context_length    longest T and S [any]

CONFIG of attention: which keys a query sees.

  align             where the queries stand among the keys if T is not S:
                    upper_left, query t at key t, or lower_right, the last query
                    at the last key, with S >= T. causal sets it too. Without
                    either T has to be S if a field needs it: window, alibi,
                    relative_bias, and rope without the input positions
  causal            upper_left or lower_right: no key after the query's place
  window            [l, r]: keys from l before to r after the query's place, its
                    own between them. A sliding window of n is [n-1, 0]
  prefix            n: with causal or window, the first n keys besides
  mask              instead of causal, window and prefix: an object with a type,
                    which is all, causal, sliding_window (left, right), prefix
                    (n), not (of: a mask), or and, or (of: a list of masks);
                    causal and sliding_window have an align of their own

CONFIG of attention: scores. The order is: project query, key and value,
normalise the heads of query and key (qk_norm), turn both (rope), add the keys
of add_bias_kv and add_zero_attn, take products, times scale, softcap, plus
bias, alibi and relative_bias, hide keys, softmax.

  scale             a factor of the scores [1/sqrt(D)]
  softcap           c: scores are c·tanh(score/c)
  qk_norm           normalises each head's queries and keys, with learned gains:
                    l2, x/max(|x|, eps), or rms, x/sqrt(mean(x^2) + eps)
  qk_norm_eps       eps [1e-12 for l2, 1e-6 for rms]
  rope              rotary positions: an object of base [10000], dims (of a head
                    that are turned, from its first) [D], interleaved (pairs 2i,
                    2i+1, not i, i+dims/2), scaling (none, linear or ntk) and
                    its factor
  alibi             the bias -slope·|t - s| for a query at t and a key at s, the
                    places that align gives; slopes as in Press et al. 2022
  relative_bias     the learned bias by distance of T5 (Raffel et al. 2020): an
                    object of buckets [32], max_distance [128] and
                    unidirectional, a decoder's form
  sinks             a learned score of each head that takes weight and gives
                    nothing: weights are exp(score)/(exp(sink) + sum)
  add_bias_kv       a learned key and value after the others
  add_zero_attn     a key and value of zeros after those; the keys of both are
                    not normalised and not turned, hidden by no mask, and get
                    scale and softcap but no bias
  gate              the heads' outputs times sigmoid(query·gate_proj), before
                    the output projection
  average_weights   weights are the mean over the heads
  dropout, context_dropout, out_dropout, out_std
                    checked, but without effect: dropout and initial weights are
                    for training

CONFIG of the chapter's layers but additive. A layer ignores those of these
fields that it has no use for.

  d_in              width of x; simple takes any x without it
  d_out             width of the output; for multi_head_wrapper of one head's,
                    so that its output is num_heads·d_out wide
  context_length    longest T of causal, multi_head_wrapper and multi_head [any]
  num_heads         H of multi_head_wrapper and multi_head, at most 65536
  qkv_bias          a bias in the projections of all but simple and self_v1
  dropout, renormalize
                    without effect: a softmax over the visible keys is already
                    what renormalizing makes

CONFIG of additive.

  d_query, d_key    widths of query and key
  d_attn            width that both are projected to

WEIGHTS: --weights holds the parameters by the names of PyTorch's state_dict,
all of them and no others. Those of attention depend on its layout; … stands for
weight (out, in) and, with qkv_bias or out_bias, bias (out). out is H·D for
query, K·D for key, K·Dv for value, and d_out for the heads' outputs, H·Dv wide.

  book              W_query.…, W_key.…, W_value.…, out_proj.…
  llama             q_proj.…, k_proj.…, v_proj.…, o_proj.…
  torch             nn.MultiheadAttention's: in_proj_weight, the three weights
                    one below the other, or q_proj_weight, k_proj_weight and
                    v_proj_weight if key or value are not d_in wide;
                    in_proj_bias; out_proj.…
  per_head          book's for each head, heads.0.W_query.…, and out_proj.…
  gpt2              c_attn.weight (d_in, H·D+K·D+K·Dv), the three side by side,
                    and c_attn.bias; c_proj.weight (H·Dv, d_out), c_proj.bias
  raw               W_query (d_in, H·D), W_key (k_dim, K·D) and W_value
                    (v_dim, K·Dv); with context_only and without qkv_bias only
  all               bias_k (1, 1, K·D), bias_v (1, 1, K·Dv) with add_bias_kv;
                    q_norm.weight, k_norm.weight (D) with qk_norm; sinks (H);
                    gate_proj.weight (H·Dv, d_in) with gate;
                    relative_attention_bias.weight (buckets, H)

Those of the chapter's layers:

  simple            none; --weights may be left out
  self_v1           W_query, W_key, W_value (d_in, d_out)
  additive          W_query.weight (d_attn, d_query), W_key.weight (d_attn,
                    d_key), v.weight (1, d_attn)
  the others        as attention's of layout book, for multi_head_wrapper of
                    per_head; only multi_head has out_proj.weight and .bias

The buffers of PyTorch's modules may be there too: bias and masked_bias of gpt2,
which are ignored, and the causal mask of the book's classes, mask or, one a
head, heads.0.mask, …, which is checked. It is (C, C), 1 above the diagonal,
where a key is hidden, and 0 elsewhere; C is context_length [any from T on].

INPUT: --input holds x for the chapter's layers, query and key for additive, and
query for attention, which alone takes the others, all of them optional.

  x                 (B, T, d_in)
  query             (B, T, d_in); additive (B, T, d_query)
  key               (B, S, k_dim) [query]; additive (B, S, d_key), its value too
  value             (B, S, v_dim) [key]
  keep              1 where a query sees a key and 0 where not, of any type;
                    broadcasts to (B, H, T, S) as in torch, from the last axis.
                    Padding is (B, 1, 1, S): (B, S) would be (T, S), and is
                    refused where it may be both, as (B, T, S) is for (H, T, S)
  lengths           (B) how many keys are no padding, 0 to S
  segments          (B, T) a query sees the keys of its own segment only
  key_segments      (B, S) those of the keys [segments]
  bias              added to the scores; broadcasts to (B, H, T, S). Of keep and
                    bias the layout per_head takes one for all heads: H is 1
  positions         (T) or (B, T) for rope [0, 1, … from where align puts the
                    first query]
  key_positions     (S) or (B, S) [positions if there is no key, else 0, 1, …]
  grad_output       of the output's shape, for all layers: asks for gradients

A query sees a key if causal and window both show it, or prefix does, or if mask
does, and if keep, lengths and segments all do. One that sees none gets weights
of 0 and nothing from the values. S does not count the keys of add_bias_kv and
add_zero_attn, which all queries see.

The masks of nn.MultiheadAttention are true where a key is hidden: here they are
keep = 1 - key_padding_mask, as (B, 1, 1, S), and keep = 1 - attn_mask. One of
floats is a bias.

OUTPUT: --output gets

  output            (B, T, d_out); simple (B, T, d_in), additive (B, T, d_key),
                    multi_head_wrapper (B, T, H·d_out)
  weights           the attention weights after the softmax: (B, H, T, S); with
                    average_weights, and of layers without heads, (B, T, S). S
                    counts the keys of add_bias_kv and add_zero_attn too

and, if the input holds grad_output, the gradients of the sum of
output·grad_output, each of the shape of what it belongs to:

  grad.x, grad.query, grad.key, grad.value, grad.bias
                    of those that are in the input
  grad.…            of all parameters, as in grad.W_query.weight

NUMBERS may be F64, F32, F16 or BF16. All are converted to --dtype, float32 or
float64, F64 to float32 by rounding to the nearest; that type is computed in and
written. Without --dtype it is float64 if query (or x) is F64, else float32.
Infinities and NaN are computed with like any other number. lengths, segments,
positions and those of the keys may be I64, I32, I16, I8 or U8 and are read
exactly. No tensor of the computation may have more than 2^30 elements.

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

    echo '{"layer": "attention", "layout": "torch", "d_in": 12, "num_heads": 3,
           "qkv_bias": true, "out_bias": true,
           "causal": "upper_left"}' > layer.json

  Run it:

    attention apply --config layer.json --weights w.safetensors \
        --input in.safetensors --output out.safetensors`
