package pretrained_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// A model that classifies texts is written with the scores of classes in place of the head, under transformers' names;
// all other weights and keys are those of the model without classes.
func TestLabels(t *testing.T) {
	for name, class := range map[string]string{
		"llama": "LlamaForSequenceClassification", "smollm2": "LlamaForSequenceClassification",
		"gpt2": "GPT2ForSequenceClassification", "gpt_neox": "GPTNeoXForSequenceClassification",
		"gemma3": "Gemma3TextForSequenceClassification",
	} {
		t.Run(name, func(t *testing.T) {
			g, err := pretrained.ReadGPT(familyFolder(t, name))
			require.NoError(t, err)
			plain, dir := filepath.Join(t.TempDir(), "plain"), filepath.Join(t.TempDir(), "classes")
			_, err = g.Write(plain, pretrained.WriteConfig{Format: pretrained.HuggingFace})
			require.NoError(t, err)
			_, err = layers.NewClassifier(g.Model, 3, 1)
			require.NoError(t, err)
			g.Labels = []string{"bad", "good", "so so"}
			_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace})
			require.NoError(t, err)
			got, want := byName(tensorsIn(t, dir)), byName(tensorsIn(t, plain))
			score, _ := g.Params.Get("score.weight")
			width := score.Shape()[1]
			require.Len(t, got["score.weight"], 3*width)
			require.Equal(t, float64(score.Float32s()[2*width]), got["score.weight"][2*width])
			delete(got, "score.weight")
			for head := range want {
				if strings.HasPrefix(head, "lm_head.") || strings.HasPrefix(head, "embed_out.") {
					delete(want, head)
				}
			}
			require.Equal(t, want, got)

			var keys struct {
				Architectures []string          `json:"architectures"`
				Names         map[string]string `json:"id2label"`
				IDs           map[string]int    `json:"label2id"`
				Pad           *int              `json:"pad_token_id"`
				ModelType     string            `json:"model_type"`
			}
			text, err := os.ReadFile(filepath.Join(dir, "config.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &keys))
			require.Equal(t, []string{class}, keys.Architectures)
			require.Equal(t, map[string]string{"0": "bad", "1": "good", "2": "so so"}, keys.Names)
			require.Equal(t, map[string]int{"bad": 0, "good": 1, "so so": 2}, keys.IDs)
			require.Nil(t, keys.Pad)
			require.NotEmpty(t, keys.ModelType)
		})
	}
}

// The error about a model that other programs cannot represent with classes names the reason.
func TestLabelsAreRefused(t *testing.T) {
	for _, row := range []struct {
		name   string
		format pretrained.Format
		labels []string
		want   string
	}{
		{"olmo2", pretrained.HuggingFace, []string{"a", "b"}, "got a model of olmo2 that gives classes, want one of another family"},
		{"gpt2", pretrained.Torch, []string{"a", "b"}, "format: got \"torch\" of a model that gives classes, want \"huggingface\""},
		{"llama", pretrained.HuggingFace, []string{"a"}, "labels: got 1 without a score.weight of as many rows"},
	} {
		g, err := pretrained.ReadGPT(familyFolder(t, row.name))
		require.NoError(t, err)
		_, err = layers.NewClassifier(g.Model, 2, 1)
		require.NoError(t, err)
		g.Labels = row.labels
		_, err = g.Write(t.TempDir(), pretrained.WriteConfig{Format: row.format})
		require.ErrorContains(t, err, row.want)
		path := filepath.Join(t.TempDir(), "model.gguf")
		require.Error(t, g.WriteGGUF(path, "f32"))
		require.NoFileExists(t, path)
	}
}
