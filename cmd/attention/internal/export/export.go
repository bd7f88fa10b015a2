// Package export is the command attention export, which writes a model for other programs.
package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/train/pretrained"

	"github.com/spf13/cobra"
)

const help = `Write a GPT to a new folder that other programs read, with the same numbers, bit
for bit. --model is a folder as for attention generate, with a GPT or a model of
another family (llama, mistral, qwen2, qwen3, smollm3, olmo2, gemma2,
gemma3_text, gpt_neox): other programs do not have the layers of other runs.
Without --model the command exports the newest run of a GPT in the folder runs.

huggingface  for transformers: AutoModelForCausalLM.from_pretrained("OUT"). A
             folder of a family is written as it was read: config.json, each
             weight in its type, the files of its tokenizer and
             generation_config.json. A run is written as GPT-2 or as the first
             family that is its decoder.
             --dtype writes the weights as float32, float16, bfloat16 or
             float64. Weights that were trained beside a base in bfloat16 are
             rounded to bfloat16, unless --dtype float32 is given. --shard-size
             is the largest size of a file of weights, such as 500MB or 2GB.
             GPT-2 always has biases in this format: a model without biases gets
             biases of 0, which change nothing. GPT-2 has as many key heads as
             query heads, so a model with fewer cannot be written.
             AutoTokenizer.from_pretrained("OUT") opens a tokenizer of
             characters or bytes. GPT-2's tokenizer is not written:
             AutoTokenizer.from_pretrained("gpt2") opens it.
             AutoModelForSequenceClassification opens a run of attention
             finetune --task classify; give it one text at a time, with the
             end-of-text token at its end. A run of an encoder is written in
             the form of its base, for transformers and
             sentence-transformers.

torch        a GPT for plain PyTorch, to continue under torchrun with DDP or
             FSDP when one machine is not enough. The folder also gets model.py:
             the model with load and save. It needs only PyTorch, and you may
             change it. The names are those of GPT-2 and nanoGPT, and every
             linear layer is an nn.Linear with the weight (out, in), where
             huggingface has (in, out):
               transformer.wte.weight (V, E)
               transformer.wpe.weight (positions, E)
               transformer.h.0.ln_1, .attn.c_attn (E to queries, keys, values),
               .attn.c_proj, .ln_2, .mlp.c_fc, .mlp.c_proj; … transformer.ln_f
               lm_head.weight (V, E), if it is not tied to wte

adapter      the trained weights of a run of attention finetune, without the
             model, in PEFT's form: adapter_config.json and
             adapter_model.safetensors. The other formats merge it into the
             model. They merge an adapter from PEFT, too: --adapter DIR adds it
             to --model; --model DIR alone finds the base that the adapter
             names.

attention generate reads huggingface, torch and gguf, and the folders that
save_pretrained and model.py's save write.

gguf         one file for llama.cpp and the programs that read its files, such
             as Ollama and LM Studio: a model of any of the families, with its
             tokenizer, special tokens and chat template. --out is a file, which
             is replaced if it is there. --type is the type of the matrices:
             f32, bf16, f16 or q8_0, which has 8 bits for each number and a
             scale for every 32 numbers. An error names any part that llama.cpp
             does not support. Where llama.cpp has no windows, as for Mistral,
             the longest text is the window. It reads GELU from a table in half
             precision, so the log-probabilities of GPT-2, GPT-NeoX and Gemma
             differ by some 1e-3. --adapter-only writes the adapter of a run of
             attention finetune, or of --adapter, without the model: llama.cpp's
             --lora adds it to a file of the model that was tuned, and so does
             Ollama by the Modelfile that is printed. Such a file cannot hold
             weights that were trained whole.`

const example = `  attention export --model runs/shakespeare --format huggingface --out gpt
  attention export --model smol --format huggingface --dtype float32 --out wide
  attention export --model gpt2 --format torch --out gpt2-torch
  attention export --model runs/talks --format adapter --out talks
  attention export --model gpt2 --format gguf --type q8_0 --out gpt2.gguf
  attention export --model runs/talks --format gguf --adapter-only --out a.gguf`

// New returns the command attention export.
func New() *cobra.Command {
	var from models.Source
	var out, typ string
	var alone bool
	var c weightsConfig
	cmd := &cobra.Command{
		Use:                   "export [--model DIR] --format FORMAT --out PATH",
		Short:                 "Write a model for transformers, plain PyTorch or llama.cpp",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case c.format == gguf && c.dtype+c.shardSize != "":
				return fmt.Errorf("--dtype, --shard-size: got one with --format %s, want none: it has --type", gguf)
			case c.format == gguf:
				return term.Stopped(cmd.Context(), writeGGUF(cmd, from, pretrained.GGUFType(typ), alone, out))
			case alone:
				return fmt.Errorf("--adapter-only: got it with --format %s, want %s, or --format %s", c.format,
					gguf, adapter)
			case typ != "":
				return fmt.Errorf("--type: got %q with --format %s, want none: it is for --format %s", typ, c.format,
					gguf)
			}
			files, err := write(cmd.Context(), cmd.ErrOrStderr(), from, c, out)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "In %s: %s\n", out, strings.Join(files, ", "))
			}
			return term.Stopped(cmd.Context(), err)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&from.Dir, "model", "", "`folder` of the model (default: that of the newest GPT in runs)")
	f.StringVar(&c.format, "format", "", "`format` to write: huggingface, torch, gguf or adapter")
	from.Flags(f)
	f.StringVar(&out, "out", "", "`path` to write: a folder, new or empty; of gguf a file")
	f.StringVar(&c.dtype, "dtype", "",
		"`type` of the weights: float32, float16, bfloat16 or float64 (default the folder's)")
	f.StringVar(&c.shardSize, "shard-size", "", "most `bytes` of weights in a file, such as 500MB (default 5GB)")
	f.StringVar(&typ, "type", "", "`type` of the matrices in gguf: f32, bf16, f16 or q8_0 (default f32)")
	f.BoolVar(&alone, "adapter-only", false, "in gguf, write the adapter without the model")
	return cmd
}

// weightsConfig is what flags say about weights.
type weightsConfig struct{ format, dtype, shardSize string }

// units are the units of --shard-size, in bytes.
var units = []struct {
	name  string
	bytes float64
}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

// parse returns the flags in the form of pretrained.
func (c weightsConfig) parse() (w pretrained.WriteConfig, err error) {
	w = pretrained.WriteConfig{Format: pretrained.Format(c.format), Dtype: c.dtype}
	if !slices.Contains(pretrained.Formats(), w.Format) {
		return w, fmt.Errorf("--format: got %q, want huggingface, torch, gguf or adapter", c.format)
	}
	if !slices.Contains([]string{"", "float32", "float16", "bfloat16", "float64"}, c.dtype) {
		return w, fmt.Errorf("--dtype: got %q, want float32, float16, bfloat16 or float64", c.dtype)
	}
	if c.shardSize == "" {
		return w, nil
	}
	for _, u := range units {
		if number, ok := strings.CutSuffix(c.shardSize, u.name); ok {
			n, err := strconv.ParseFloat(number, 64)
			if n *= u.bytes; err == nil && n >= 1 && n < 1e18 {
				w.ShardSize = int64(n)
				return w, nil
			}
			break
		}
	}
	return w, fmt.Errorf("--shard-size: got %q, want a number with its unit, such as 500MB or 2GB", c.shardSize)
}

// write reads a model, writes it and returns the names of the files.
func write(ctx context.Context, notes io.Writer, from models.Source, c weightsConfig, out string) (files []string, err error) {
	var how pretrained.WriteConfig
	if c.format != adapter {
		how, err = c.parse()
	}
	switch {
	case err != nil:
		return nil, err
	case c.format == adapter && c.dtype+c.shardSize != "":
		return nil, fmt.Errorf("--dtype, --shard-size: got one with --format %s, want none", adapter)
	case out == "":
		return nil, errors.New("--out: missing, want a folder to write")
	}
	if files, ok, err := writeEncoder(notes, from, c, out); ok {
		return files, err
	}
	m, in, err := read(ctx, notes, from)
	if err != nil {
		return nil, err
	}
	_, has := m.Params.LoRA()
	switch {
	case c.format != adapter:
		if to := m.Rounds(how); to != "" && c.dtype == "" && (has || in.Config.Tuning != nil) {
			program.Note(notes, "--dtype: what was trained is rounded to %s, the base's type, which changes what "+
				"the model computes; --dtype float32 rounds nothing", to)
		}
		files, err = m.Write(out, how)
	case !has:
		return nil, fmt.Errorf("--format: got %s of a model without one, want a run of attention finetune, or --adapter",
			adapter)
	default:
		files, err = m.WriteAdapter(out, in.Base())
	}
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return files, nil
}

// writeEncoder writes the encoder of a run in the form of its base. ok is false for another model.
func writeEncoder(notes io.Writer, from models.Source, c weightsConfig, out string) (files []string, ok bool,
	err error) {
	if from.Dir == "" {
		return nil, false, nil
	}
	in, err := models.Inspect(from.Dir)
	if err != nil || in.Kind != settings.EncoderModel {
		return nil, false, nil // the error will be found again
	}
	if c.format != string(pretrained.HuggingFace) || c.dtype+c.shardSize+from.Adapter != "" {
		return nil, true, fmt.Errorf("--format: got %s for the run of an encoder, want %s, without --dtype, --shard-size "+
			"and --adapter", c.format, pretrained.HuggingFace)
	}
	e, of, err := in.OpenEncoder(from.Base)
	if err != nil {
		return nil, true, fmt.Errorf("--model: %w", err)
	}
	program.Notes(notes, of)
	if files, err = e.Write(out); err != nil {
		err = fmt.Errorf("--out: %w", err)
	}
	return files, true, err
}

// The formats of one file, and of an adapter alone.
const (
	gguf    = "gguf"
	adapter = "adapter"
)

// writeGGUF reads a model and writes it for llama.cpp.
func writeGGUF(cmd *cobra.Command, from models.Source, typ pretrained.GGUFType, alone bool, out string) error {
	typ = cmp.Or(typ, pretrained.GGUFTypes()[0])
	switch {
	case !slices.Contains(pretrained.GGUFTypes(), typ):
		return fmt.Errorf("--type: got %q, want f32, bf16, f16 or q8_0", typ)
	case out == "":
		return errors.New("--out: missing, want a file to write")
	}
	m, in, err := read(cmd.Context(), cmd.ErrOrStderr(), from)
	if err != nil {
		return err
	}
	write := m.WriteGGUF
	if _, ok := m.Params.LoRA(); alone && !ok {
		return errors.New("--adapter-only: got a model without an adapter, want a run of attention finetune or --adapter")
	} else if alone {
		write = m.WriteGGUFAdapter
	}
	if err := write(out, typ); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	use := ""
	if alone {
		if use, err = modelfile(m, in, out); err != nil {
			return err
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s\n%s", out, use)
	return nil
}

// read reads a model that stops writing files when ctx ends.
func read(ctx context.Context, notes io.Writer, from models.Source) (*pretrained.GPT, *models.Inspection, error) {
	in, err := from.Inspect(notes, settings.GPTModel, settings.DecoderModel)
	if err != nil {
		return nil, nil, err
	}
	m, err := in.Exported()
	if err != nil {
		return nil, nil, in.Named(err)
	}
	models.NoteIgnored(notes, in.Dir, m)
	return m.WithContext(ctx), in, nil
}
