// Package chapter is the command attention chapter, which walks through attention step by step.
package chapter

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"attention/cmd/attention/internal/flags"

	"github.com/spf13/cobra"
	"gorgonia.org/tensor"
)

// section is a part of the chapter. Each stands for itself: where the chapter continues a stream of random
// numbers, a section draws again what comes before its own.
type section struct {
	heading string
	seed    int64             // torch.manual_seed before its weights; 0 where it has none
	fill    func(*page) error // builds the graph and the cells that show it
}

// sections is the chapter in its order.
func sections() []section {
	return []section{
		{"Simple self-attention for one token", 0, (*page).oneQuery},
		{"Simple self-attention for all tokens", 0, (*page).allQueries},
		{"Weights to train, step by step", 123, (*page).stepByStep},
		{"The same steps with five tokens", 123, (*page).fiveTokens},
		{"SelfAttentionV1: the steps as a layer", 123, (*page).selfAttentionV1},
		{"SelfAttentionV2: linear projections", 789, (*page).selfAttentionV2},
		{"Weights moved between the two layers", 123, (*page).movedWeights},
		{"A causal mask of zeros", 789, (*page).maskByZeros},
		{"A causal mask of minus infinity", 789, (*page).maskByInfinity},
		{"Dropout", 789, (*page).dropout},
		{"CausalAttention on a batch", 123, (*page).causalAttention},
		{"MultiHeadAttentionWrapper: heads side by side", 123, (*page).headsSideBySide},
		{"One projection split into heads", 123, (*page).splitProjection},
		{"MultiHeadAttention: heads in one layer", 123, (*page).multiHead},
		{"MultiHeadAttention in the size of GPT-2 small", 123, (*page).gpt2Small},
		{"Where attention began: additive attention", 123, (*page).additive},
	}
}

// New returns the command attention chapter.
func New() *cobra.Command {
	var only, dtype string
	var contents strings.Builder
	for i, s := range sections() {
		fmt.Fprintf(&contents, "%4d  %s\n", i+1, s.heading)
	}
	cmd := &cobra.Command{
		Use:   "chapter",
		Short: "Walk through attention from dot products to multi-head attention",
		Long: `chapter computes attention step by step, from dot products to multi-head attention in the size of GPT-2 small,
and prints every tensor as PyTorch does. Each of them is a node of a Gorgonia graph; weights are drawn as PyTorch
draws them. Its sections:

` + contents.String(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dt, err := flags.Dtype(dtype)
			if err != nil {
				return err
			}
			return walk(cmd.OutOrStdout(), dt, only)
		},
	}
	cmd.Flags().StringVar(&only, "section", "", "show one `section`: its number, or a regular expression that headings match")
	cmd.Flags().StringVar(&dtype, "dtype", "float32", "element `type`: float32 or float64, for which other weights are drawn")
	return cmd
}

// walk prints the sections that only selects, each as soon as it is computed.
func walk(w io.Writer, dt tensor.Dtype, only string) error {
	selected, err := selectSections(only)
	if err != nil {
		return err
	}
	for i, s := range sections() {
		if !selected(i+1, s.heading) {
			continue
		}
		p, err := s.compute(dt)
		if err != nil {
			return fmt.Errorf("chapter: section %d: %w", i+1, err)
		}
		if err := p.print(w, s.title(i+1)); err != nil {
			return err
		}
	}
	return nil
}

// selectSections reads the flag --section.
func selectSections(only string) (func(number int, heading string) bool, error) {
	if n, err := strconv.Atoi(only); err == nil {
		if count := len(sections()); n < 1 || n > count {
			return nil, fmt.Errorf("--section: got %d, want 1 to %d", n, count)
		}
		return func(number int, _ string) bool { return number == n }, nil
	}
	pattern, err := regexp.Compile("(?i)" + only)
	if err != nil {
		return nil, fmt.Errorf("--section: %w", err)
	}
	for _, s := range sections() {
		if pattern.MatchString(s.heading) {
			return func(_ int, heading string) bool { return pattern.MatchString(heading) }, nil
		}
	}
	return nil, fmt.Errorf("--section: got %q, which is in no heading; see attention chapter --help", only)
}

// compute builds and runs the section's graph.
func (s section) compute(dt tensor.Dtype) (*page, error) {
	p := newPage(dt, s.seed)
	if err := s.fill(p); err != nil {
		return nil, err
	}
	return p, p.run()
}

// title is the heading as it is printed.
func (s section) title(number int) string {
	if s.seed == 0 {
		return fmt.Sprintf("%d. %s", number, s.heading)
	}
	return fmt.Sprintf("%d. %s (seed %d)", number, s.heading, s.seed)
}
