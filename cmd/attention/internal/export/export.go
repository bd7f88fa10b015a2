// Package export is the command attention export, which writes a GPT for other programs.
package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/train/pretrained"

	"github.com/spf13/cobra"
)

const help = `Writes a GPT to a new folder that other programs read, with the same numbers,
bit for bit. --model is a folder as for attention generate, of a GPT: other
programs have no form for the layers of other runs. Without it the newest run of
a GPT in the folder runs is taken.

huggingface  GPT-2 for transformers: GPT2LMHeadModel.from_pretrained("OUT").
             GPT-2 always has biases there; those of a model without biases are
             written as 0, which changes nothing. It has as many key heads as
             query heads: a model with fewer cannot be written. A tokenizer of
             characters or bytes is AutoTokenizer.from_pretrained("OUT");
             GPT-2's is not written, but AutoTokenizer.from_pretrained("gpt2").

torch        for plain PyTorch, to continue under torchrun with DDP or FSDP when
             one machine is not enough. The folder also gets model.py: the
             model with load and save. It needs nothing but PyTorch, and is
             yours to change. The names are those of GPT-2 and nanoGPT, and
             every linear layer is an nn.Linear with the weight (out, in),
             where huggingface has (in, out):
               transformer.wte.weight (V, E)
               transformer.wpe.weight (positions, E)
               transformer.h.0.ln_1, .attn.c_attn (E to queries, keys, values),
               .attn.c_proj, .ln_2, .mlp.c_fc, .mlp.c_proj; … transformer.ln_f
               lm_head.weight (V, E), if it is not tied to wte

attention generate reads both, and what transformers' save_pretrained and
model.py's save write.

gguf         one file for llama.cpp and the programs that read its files, such as
             Ollama and LM Studio, with the tokenizer: --out is a file, which is
             replaced if it is there. --type is how it has the matrices: f32, bf16,
             f16 or q8_0, which is 8 bits a number and a scale for each 32. A
             model of GPT-2's form has GELU there by a table in half precision:
             log-probabilities differ by some 1e-3. attention does not read it.`

const example = `  attention export --model runs/shakespeare --format huggingface --out gpt
  attention export --model gpt2 --format torch --out gpt2-torch
  attention export --model gpt2 --format gguf --type q8_0 --out gpt2.gguf`

// New returns the command attention export.
func New() *cobra.Command {
	var model, format, out, typ string
	cmd := &cobra.Command{
		Use:                   "export [--model DIR] --format huggingface|torch|gguf --out PATH",
		Short:                 "Write a GPT for transformers, plain PyTorch or llama.cpp",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format == gguf {
				return writeGGUF(cmd, model, pretrained.GGUFType(typ), out)
			}
			if typ != "" {
				return fmt.Errorf("--type: got %q with --format %s, want none: it is for --format %s", typ, format, gguf)
			}
			files, err := write(cmd.ErrOrStderr(), model, pretrained.Format(format), out)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "In %s: %s\n", out, strings.Join(files, ", "))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&model, "model", "", "`folder` of the model (default: that of the newest GPT in runs)")
	f.StringVar(&format, "format", "", "`format` to write: huggingface, torch or gguf")
	f.StringVar(&out, "out", "", "`path` to write: a folder, new or empty; of gguf a file")
	f.StringVar(&typ, "type", "", "`type` of the matrices in gguf: f32, bf16, f16 or q8_0 (default f32)")
	return cmd
}

// write reads a model, writes it and returns the names of the files.
func write(notes io.Writer, model string, format pretrained.Format, out string) ([]string, error) {
	switch {
	case !slices.Contains(pretrained.Formats(), format):
		return nil, fmt.Errorf("--format: got %q, want huggingface, torch or gguf", format)
	case out == "":
		return nil, errors.New("--out: missing, want a folder to write")
	}
	m, err := read(notes, model)
	if err != nil {
		return nil, err
	}
	files, err := m.Write(out, format)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return files, nil
}

// gguf is the format of one file.
const gguf = "gguf"

// writeGGUF reads a model and writes it for llama.cpp.
func writeGGUF(cmd *cobra.Command, model string, typ pretrained.GGUFType, out string) error {
	typ = cmp.Or(typ, pretrained.GGUFTypes()[0])
	switch {
	case !slices.Contains(pretrained.GGUFTypes(), typ):
		return fmt.Errorf("--type: got %q, want f32, bf16, f16 or q8_0", typ)
	case out == "":
		return errors.New("--out: missing, want a file to write")
	}
	m, err := read(cmd.ErrOrStderr(), model)
	if err != nil {
		return err
	}
	if err := m.WriteGGUF(out, typ); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s\n", out)
	return nil
}

// read reads a model.
func read(notes io.Writer, model string) (*pretrained.GPT, error) {
	in, err := run.InspectOrNewest(model, notes, run.GPTModel, run.DecoderModel)
	if err != nil {
		return nil, fmt.Errorf("--model: %w", err)
	}
	m, err := in.GPT()
	if err != nil {
		return nil, fmt.Errorf("--model: %w", err)
	}
	return m, nil
}
