package bench

const help = `Time layers.Attention on normal random numbers: causal, without biases of
queries, keys and values, with one of the output, without dropout. The graph is
built and its memory planned once; then it runs once to warm up and --runs times
against the clock.

  forward            computes the output (B, T, E)
  forward-backward   computes the output and the gradients of all weights and
                     of the bias, for a fixed random gradient of the output; no
                     gradient of the input
  gpt-step           takes a step of training a GPT of --layers blocks, without
                     biases, on --vocab distinct tokens: loss, gradients,
                     clipping and AdamW

With a flag for a size, the mask or the mode it times that one work. With none
it times a list of works one after the other: two sequences of GPT-2 small's
1024 tokens, width 768 and 12 heads, forward and backward and forward alone; a
tiny layer; a training step of a small GPT; and one sequence of each length
from 256 to 8192. Each is then done by a process of its own.

--precision bf16 rounds the operands of all products to bfloat16, also of the
list; the rest stays float32. It is refused where it is not at least 1.5 times
as fast as float32, unless the environment has ATTENTION_BF16=emulated.

--profile prints where the time of a run goes: a row for each kind of ops, in
--json a list "ops". CALLS of a run (calls), MS in them (seconds), SHARE of the
run, and IDLE (idle), the share of all cores' time in which they waited: for an
op that one core computes, for the last part of one, for helpers to wake.
"clipping" and "solver" are the rest of a training step.

COLUMNS, and the fields of --json:

  WORK      name: B batch, T tokens, E width, H heads, L blocks, the mode; K key
            heads, V vocabulary, no-causal, float64 and bf16 if asked for
            batch, tokens, embed_dim, num_heads, num_kv_heads, causal, mode,
            dtype, precision, runs; num_layers and vocab_size of gpt-step;
            threads that compute at once, in the head of the column
  SECONDS   seconds: of a run, the median
  LEAST     seconds_min: the fastest run
  GFLOP     flop: floating-point operations that a run cannot do without:
            2·m·n·k for each matrix product (m,k)·(k,n), nothing for anything
            else. A causal sequence has T(T+1)/2 pairs of a token and one that
            it sees, another T·T. With D = E/H, N = B·T and keys and values for
            each head, forward takes
              4 · 2·N·E·E             the projections
              2 · 2·D·B·H·T(T+1)/2    scores and context
            and backward adds
              4 · 2·N·E·E             gradients of the projections' weights
              1 · 2·N·E·E             gradient of the context
              4 · 2·D·B·H·T(T+1)/2    gradients of weights, values, queries and
                                      keys
            With K key heads two of the four projections have E·D·K for E·E.
            A step of a GPT counts three times the products of its forward
            pass. What is computed a second time or thrown away does not count.
  GFLOP/S   flop_per_second: flop / seconds
  PEAK      peak_flop_per_second: what as many cores do at best in multiply-adds
            that touch no memory, measured in the same process after the runs,
            of bf16 if the work is; the column is the ratio. A processor without
            instructions for bf16 has no peak of it: -, and 0. cores is how
            many, kernels their instruction set, passed_over a list of faster
            kernels, each with its name and why it is not used, and bf16 how
            fast that is where --precision may ask for it; all on the first line
  MIB       peak_rss_bytes: the most memory the process had in use, all that
            belongs to it included; 0 where the system does not tell`

const example = `  attention bench
  attention bench --batch 8 --tokens 512 --width 512 --heads 8
  attention bench --mode gpt-step --batch 12 --tokens 64 --width 128 --heads 4
  attention bench --mode gpt-step --layers 4 --profile
  attention bench --tokens 256 --precision bf16
  attention bench --tokens 4096 --batch 1 --mode forward --threads 1 --json`
