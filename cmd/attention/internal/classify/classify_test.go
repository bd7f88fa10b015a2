package classify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

// Encoders print the labels of their config.json with the probabilities that transformers computes.
func TestEncoderClasses(t *testing.T) {
	const text = "The words of hello, in the café!"
	file := filepath.Join(t.TempDir(), "texts")
	for name, labels := range map[string][]string{"bert_class": {"bad", "good", "so so"},
		"distilbert_class": {"LABEL_0", "LABEL_1"}} {
		dir, err := golden.Path("encoders", name)
		require.NoError(t, err)
		chances, sum := golden.Load(t, "encoders/"+name+"/head.safetensors").Float64("text"), 0.0
		order := make([]int, len(labels))
		for i, x := range chances {
			chances[i], order[i] = math.Exp(x), i
			sum += chances[i]
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(chances[b], chances[a]) })
		var want []string
		for _, i := range order {
			want = append(want, fmt.Sprintf("%s %.4f", labels[i], chances[i]/sum))
		}
		line := strings.Join(want, "  ") + "  "
		classify := func(args ...string) (string, error) {
			return commandtest.Output(context.Background(), New(), append([]string{"--model", dir}, args...)...)
		}
		got, err := classify("--text", text)
		require.NoError(t, err)
		require.Equal(t, line+text+"\n", got)
		long := strings.Repeat("the ", 30) // 22 of which are read
		require.NoError(t, os.WriteFile(file, []byte(text+"\r\n\n"+long+"\n"+strings.Repeat("the ", 22)), 0o644))
		got, err = classify("--text-file", file)
		require.NoError(t, err)
		lines := strings.Split(got, "\n")
		require.Len(t, lines, 5)
		require.Contains(t, lines[3], "window is 24 tokens: the ends of 1 of 3 texts are not read; the longest has 32")
		require.Equal(t, line+text, lines[0])
		before, _, _ := strings.Cut(lines[2], "  the")
		require.True(t, strings.HasPrefix(lines[1], before+"  the"), "%q", lines[1:])
	}
}

// A model without classes is refused in one line.
func TestEncodersWithoutClasses(t *testing.T) {
	for name, want := range map[string]string{
		"bert":      "weights: got no classifier.weight, want those of BertForSequenceClassification",
		"bert_head": "weights: got no classifier.weight, want those of BertForSequenceClassification",
	} {
		dir, err := golden.Path("encoders", name)
		require.NoError(t, err)
		_, err = commandtest.Output(context.Background(), New(), "--model", dir, "--text", "x")
		require.ErrorContains(t, err, "--model: ")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
}
