package bench

const help = `Time layers.Attention on normally distributed numbers. The layer is causal and
has no dropout; only its output projection has a bias. The command builds the
graph and plans its memory once. The graph then runs once to warm up, and --runs
times with a clock.

  forward            computes the output (B, T, E)
  forward-backward   computes the output and the gradients of all weights and
                     of the bias, for a fixed random gradient of the output; it
                     computes no gradient of the input
  gpt-step           takes a step of training a GPT of --layers blocks, without
                     biases, on --vocab distinct tokens: loss, gradients,
                     clipping and AdamW

With a flag for a size, the mask or the mode, the command times one work with
these settings. Without such a flag it times a list of works, each in its own
process: two sequences with GPT-2 small's 1024 tokens, width 768 and 12 heads,
forward and backward, and forward alone; a tiny layer; a training step of a
small GPT; and one sequence of each length from 256 to 8192.

--precision bf16 rounds the operands of all products to bfloat16, in the list
too; everything else stays float32. It is refused on processors where it is not
at least 1.5 times as fast as float32, unless ATTENTION_BF16=emulated is set.

--profile prints where the time of a run goes: a row for each kind of op, or a
list "ops" with --json. CALLS (calls) is the number of calls in a run, MS
(seconds) the time in them, and SHARE their share of the run. IDLE (idle) is the
share of all cores' time in which cores waited: for an op on one core, for the
last part of an op, or for helpers to wake. The rows "clipping" and "solver" are
the rest of a training step.

COLUMNS, and the fields of --json:

  WORK      name: B batch, T tokens, E width, H heads, L blocks and the mode;
            then K key heads, V vocabulary, no-causal, float64 and bf16 if
            flags set them
            batch, tokens, embed_dim, num_heads, num_kv_heads, causal, mode,
            dtype, precision, runs; num_layers and vocab_size of gpt-step;
            threads that compute at the same time, in the column's heading
  SECONDS   seconds: the median time of a run
  LEAST     seconds_min: the time of the fastest run
  GFLOP     flop: the floating-point operations that a run needs: 2·m·n·k for
            each matrix product (m,k)·(k,n), and nothing for other ops. A causal
            sequence has T(T+1)/2 pairs of a token and a token that it sees;
            without the mask a sequence has T·T. With D = E/H, N = B·T and keys
            and values for each head, forward takes
              4 · 2·N·E·E             the projections
              2 · 2·D·B·H·T(T+1)/2    scores and context
            and backward adds
              4 · 2·N·E·E             gradients of the projections' weights
              1 · 2·N·E·E             gradient of the context
              4 · 2·D·B·H·T(T+1)/2    gradients of weights, values, queries and
                                      keys
            With K key heads two of the four projections have E·D·K in place of
            E·E. A step of a GPT counts three times the products of its forward
            pass. Products that are computed a second time or not used do not
            count.
  GFLOP/S   flop_per_second: flop / seconds
  PEAK      peak_flop_per_second: the highest rate of multiply-adds without
            memory access on the same number of cores, in bf16 if the work is.
            The same process measures it after the runs. The column shows
            GFLOP/S divided by this peak. A processor without instructions for
            bf16 has no peak in bf16: the column shows -, the field 0.
            The first line shows the number of cores (cores), their instruction
            set (kernels), the names of faster kernels that are not used, with
            the reasons (passed_over), and the speed of bf16 on processors that
            accept --precision bf16 (bf16)
  MIB       peak_rss_bytes: the most memory that the process had in use, with
            everything that belongs to it; 0 where the system does not report it`

const example = `  attention bench
  attention bench --batch 8 --tokens 512 --width 512 --heads 8
  attention bench --mode gpt-step --batch 12 --tokens 64 --width 128 --heads 4
  attention bench --mode gpt-step --layers 4 --profile
  attention bench --tokens 256 --precision bf16
  attention bench --tokens 4096 --batch 1 --mode forward --threads 1 --json`
