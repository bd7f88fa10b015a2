// Package chapter is the command attention chapter, which walks through attention step by step.
package chapter

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/term"
	"attention/internal/dense"
	"attention/internal/tensorprint"
	"attention/layers/chapter"

	"github.com/spf13/cobra"
	"gorgonia.org/tensor"
)

const example = `  attention chapter
  attention chapter --section 9
  attention chapter --section causal --sentence "the cat sat on the mat"
  attention chapter --section 14 --pictures pictures`

// New returns the command attention chapter.
func New() *cobra.Command {
	var only, dtype, dir string
	var changed changes
	var contents strings.Builder
	for _, s := range chapter.Sections() {
		fmt.Fprintf(&contents, "%4d  %s\n", s.Number, s.Title)
	}
	cmd := &cobra.Command{
		Use:   "chapter",
		Short: "Compute the textbook chapter step by step",
		Long: `Compute attention step by step, from dot products to multi-head attention in the
size of GPT-2 small, and print every tensor as PyTorch does. Each tensor is a
node of a Gorgonia graph, and weights are drawn as in PyTorch. --sentence,
--seed, --heads and --dropout change the sections that have them. The sections:

` + contents.String(),
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dt, err := flags.Dtype(dtype)
			if err != nil {
				return err
			}
			sections, err := selectSections(only)
			if err != nil {
				return err
			}
			if err := changed.apply(cmd.Flags(), sections); err != nil {
				return err
			}
			if cmd.Flags().Changed("pictures") {
				return draw(cmd.Context(), cmd.OutOrStdout(), dir, dt, sections)
			}
			return walk(cmd.Context(), cmd.OutOrStdout(), dt, sections)
		},
	}
	cmd.Flags().StringVar(&only, "section", "",
		"show one `section`: its number, or a regular expression that headings match")
	cmd.Flags().StringVar(&dtype, "dtype", "float32",
		"element `type`: float32 or float64, for which other weights are drawn")
	cmd.Flags().StringVar(&dir, "pictures", "",
		"draw the sections into this `folder` instead: every step as a heat map, and the expression graph of each "+
			"layer as text of Mermaid, which GitHub draws")
	changed.add(cmd.Flags())
	return cmd
}

// walk prints sections, each as soon as its steps are computed.
func walk(ctx context.Context, w io.Writer, dt tensor.Dtype, sections []chapter.Section) error {
	for _, s := range sections {
		steps, err := term.Await(ctx, func() ([]chapter.Step, error) { return s.Run(dt) })
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, page(s, steps)); err != nil {
			return err
		}
	}
	return nil
}

// selectSections reads the flag --section.
func selectSections(only string) ([]chapter.Section, error) {
	all := chapter.Sections()
	if n, err := strconv.Atoi(only); err == nil {
		if n < 1 || n > len(all) {
			return nil, fmt.Errorf("--section: got %d, want 1 to %d", n, len(all))
		}
		return all[n-1 : n], nil
	}
	pattern, err := regexp.Compile("(?i)" + only)
	if err != nil {
		return nil, fmt.Errorf("--section: %w", err)
	}
	selected := slices.DeleteFunc(all, func(s chapter.Section) bool { return !pattern.MatchString(s.Title) })
	if len(selected) == 0 {
		return nil, fmt.Errorf("--section: got %q, which is in no heading; see attention chapter --help", only)
	}
	return selected, nil
}

// page returns a section as text: its title, its reason and its steps, each as a sentence followed by the value.
func page(s chapter.Section, steps []chapter.Step) string {
	heading := title(s)
	text := heading + "\n" + strings.Repeat("=", utf8.RuneCountInString(heading)) + "\n\n"
	text += term.Fill("", strings.Fields(s.Text+" "+s.Why)...) + "\n"
	if own := chapter.Sections()[s.Number-1]; !slices.Equal(s.Words, own.Words) {
		text += term.Fill("Tokens: ", s.Words...) + "\n"
	}
	for _, step := range steps {
		text += step.Text + "\n" + format(step.Value) + "\n\n"
	}
	return text
}

// title returns a section's heading.
func title(s chapter.Section) string {
	if own := chapter.Sections()[s.Number-1]; s.Seed == 0 && own.Seed == 0 {
		return fmt.Sprintf("%d. %s", s.Number, s.Title)
	}
	return fmt.Sprintf("%d. %s (seed %d)", s.Number, s.Title, s.Seed)
}

// format returns a step's value as PyTorch prints it, except that counts have commas.
func format(v *tensor.Dense) string {
	switch data := v.Data().(type) {
	case []int: // a shape
		return "torch.Size(" + strings.ReplaceAll(fmt.Sprint(data), " ", ", ") + ")"
	case int:
		return withCommas(data)
	}
	return tensorprint.Format(dense.Float64s(v), v.Shape())
}

// withCommas returns a count of at least 0 in groups of three digits.
func withCommas(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", withCommas(n/1000), n%1000)
}
