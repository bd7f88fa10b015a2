package pretrained_test

import (
	"os"
	"path/filepath"
	"testing"

	"attention/internal/safetensors"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// The tokenizer is the one that config.json names, or GPT-2's if the vocabulary has its size and the folder has no
// other vocabulary.
func TestTokenizers(t *testing.T) {
	tiny := func(vocab int, more fields) string {
		config := hub.with(fields{"vocab_size": vocab, "n_embd": 1, "n_head": 1}).with(more)
		var tensors []safetensors.Tensor
		for _, x := range float32s(t, gpt(t)) {
			n := 1
			for i, d := range x.Shape {
				switch {
				case x.Name == "transformer.wte.weight" && i == 0:
					d = vocab
				case d != 11: // positions
					d /= 12
				}
				x.Shape[i] = d
				n *= d
			}
			x.Data = make([]float32, n)
			tensors = append(tensors, x)
		}
		return write(t, config, tensors)
	}
	name := func(dir string) string {
		g, err := pretrained.ReadGPT(dir)
		require.NoError(t, err)
		if g.Tokenizer == nil {
			require.Less(t, g.EndOfText, 50256)
			return ""
		}
		require.True(t, g.EndOfText == -1 || g.Tokenizer.Config().Name == text.GPT2)
		return g.Tokenizer.Config().Name
	}
	none := fields{"eos_token_id": nil}
	require.Equal(t, "gpt2", name(tiny(50257, nil)))
	require.Equal(t, "gpt2", name(tiny(50304, none)))
	require.Equal(t, "", name(tiny(50256, none)))
	require.Equal(t, "", name(tiny(50305, none)))
	require.Equal(t, "bytes", name(tiny(300, fields{"vocabulary": fields{"tokenizer": "bytes"}})))
	require.Equal(t, "bytes", name(tiny(50257, fields{"vocabulary": fields{"tokenizer": "bytes"}, "eos_token_id": nil})))

	g, err := pretrained.ReadGPT(tiny(300, fields{"eos_token_id": []int{7, 8}}))
	require.NoError(t, err)
	require.Equal(t, 7, g.EndOfText)
	dir := t.TempDir()
	_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace})
	require.NoError(t, err)
	g, err = pretrained.ReadGPT(dir)
	require.NoError(t, err)
	require.Equal(t, 7, g.EndOfText)

	vocab := gpt2JSON(t)
	dir = tiny(50257, none)
	writeJSON(t, filepath.Join(dir, "vocab.json"), vocab)
	require.Equal(t, "gpt2", name(dir))
	require.NoError(t, os.Remove(filepath.Join(dir, "vocab.json")))
	writeJSON(t, filepath.Join(dir, "tokenizer.json"),
		fields{"version": "1.0", "model": fields{"type": "BPE", "vocab": vocab, "merges": []string{"a b"}}})
	require.Equal(t, "gpt2", name(dir))
	vocab["the"], vocab["Ġthe"] = vocab["Ġthe"], vocab["the"]
	writeJSON(t, filepath.Join(dir, "vocab.json"), vocab)
	require.Equal(t, "", name(dir), "another language")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "vocab.json"), []byte("{"), 0o644))
	require.Equal(t, "", name(dir))
}

// gpt2JSON returns GPT-2's vocab.json. Bytes are written as in GPT-2's own program: printable ones unchanged, the
// others as U+0100, U+0101, …
func gpt2JSON(t testing.TB) map[string]int {
	var letter [256]rune
	next := rune(256)
	for b := range letter {
		letter[b] = rune(b)
		if b <= ' ' || b >= 127 && b <= 160 || b == 173 {
			letter[b], next = next, next+1
		}
	}
	require.Equal(t, 'Ġ', letter[' '])
	require.Equal(t, 'Ċ', letter['\n'])
	vocab := map[string]int{"<|endoftext|>": 50256}
	tokenizer := text.NewGPT2Tokenizer()
	for id := range 50256 {
		text, err := tokenizer.Decode([]int{id})
		require.NoError(t, err)
		var name []rune
		for _, b := range []byte(text) {
			name = append(name, letter[b])
		}
		vocab[string(name)] = id
	}
	require.Len(t, vocab, 50257)
	require.Equal(t, 1169, vocab["the"])
	return vocab
}
