// Package embed is the command attention embed, which computes vectors of texts with an encoder.
package embed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/spf13/cobra"
)

const help = `Make a vector of each line of a text with an encoder, such as all-MiniLM-L6-v2.
Texts with similar meanings get vectors with a small angle. --model is a folder
of BERT or DistilBERT in the form of sentence-transformers or transformers, or a
run of attention finetune --task embed. The folder says how token vectors are
pooled and normalised; if it does not, a line's vector is their mean. Lines
longer than the model's longest text are cut.

--json prints an array of numbers for each line. --out writes a safetensors file
with one tensor, embeddings, a row for each line. --near prints the lines whose
vectors are the nearest to that of a query, with the cosines of the angles.`

const example = `  attention embed --model all-MiniLM-L6-v2 --text-file lines.txt --json
  attention embed --model all-MiniLM-L6-v2 --text-file lines.txt --near "a meal"`

// options are the flags.
type options struct {
	model, base, file, out, near string
	json                         bool
	top                          int
}

// New returns the command attention embed.
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:                   "embed --model DIR --text-file FILE --json|--out FILE|--near TEXT",
		Short:                 "Make vectors of texts with an encoder, and find the nearest",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.model, "model", "", "`folder` of the encoder, or of a run of attention finetune --task embed")
	f.StringVar(&o.base, "base", "", "`folder` in which the base of the run is now")
	f.StringVar(&o.file, "text-file", "", "UTF-8 `file` with a text in each line; - is the standard input")
	f.BoolVar(&o.json, "json", false, "print an array of numbers for each line")
	f.StringVar(&o.out, "out", "", "safetensors `file` for the vectors of all lines")
	f.StringVar(&o.near, "near", "", "`text` whose nearest lines are printed")
	f.IntVar(&o.top, "top", 5, "`lines` that --near prints")
	return cmd
}

// check returns an error for flags that are missing or do not go together.
func (o options) check() error {
	asked := 0
	for _, given := range []bool{o.json, o.out != "", o.near != ""} {
		if given {
			asked++
		}
	}
	switch {
	case o.model == "":
		return errors.New("--model: missing, want the folder of an encoder")
	case o.file == "":
		return errors.New("--text-file: missing, want a file with a text in each line")
	case asked != 1:
		return fmt.Errorf("got %d of --json, --out and --near, want one", asked)
	case o.top < 1:
		return fmt.Errorf("--top: got %d, want at least 1", o.top)
	}
	return nil
}

func (o options) run(ctx context.Context, w, notes io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	lines, err := term.Await(ctx, func() ([]string, error) { return settings.ReadLines("--text-file", o.file) })
	if err != nil {
		return err
	}
	encoder, from, err := models.OpenEncoder(o.model, o.base)
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	program.Notes(notes, from)
	e, err := encoder.Embedder()
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	vectors, err := term.Await(ctx, func() ([][]float32, error) { return e.Embed(ctx, lines...) })
	if err != nil {
		return fmt.Errorf("--text-file: %w", err)
	}
	out := term.NewOutput(w)
	switch {
	case o.json:
		err = printArrays(ctx, out, vectors)
	case o.near != "":
		err = o.printNearest(ctx, out, e, lines, vectors)
	default:
		err = o.write(out, vectors)
	}
	return cmp.Or(err, out.Err())
}

// printArrays prints an array of numbers for each vector.
func printArrays(ctx context.Context, out io.Writer, vectors [][]float32) error {
	for _, v := range vectors {
		array, err := json.Marshal(v)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n", array)
		if err := term.Stopped(ctx, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// write writes the vectors as one tensor.
func (o options) write(out io.Writer, vectors [][]float32) error {
	rows := safetensors.Tensor{Name: "embeddings", Shape: []int{len(vectors), len(vectors[0])}, Data: slices.Concat(vectors...)}
	if err := safetensors.WriteFile(o.out, &safetensors.File{Tensors: []safetensors.Tensor{rows}}); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	fmt.Fprintf(out, "In %s: %s of %s\n", term.Printable(o.out), settings.Count(len(vectors), "vector"),
		settings.Count(len(vectors[0]), "number"))
	return nil
}

// printNearest prints the lines whose vectors are nearest to that of the query.
func (o options) printNearest(ctx context.Context, out io.Writer, e *pretrained.Embedder, lines []string,
	vectors [][]float32) error {
	query, err := e.Embed(ctx, o.near)
	if err != nil {
		return fmt.Errorf("--near: %w", err)
	}
	cosines, order := make([]float64, len(lines)), make([]int, len(lines))
	for i, v := range vectors {
		cosines[i], order[i] = pretrained.Cosine(query[0], v), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cosines[b], cosines[a]) })
	for _, i := range order[:min(o.top, len(order))] {
		fmt.Fprintf(out, "%7.4f  %s\n", cosines[i], term.Line(lines[i]))
	}
	return nil
}
