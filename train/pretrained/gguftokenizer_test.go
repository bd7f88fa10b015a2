package pretrained_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// llama.cpp splits texts as GPT-2's tokenizer does, and as tokenizers of characters and bytes do.
func TestGGUFTokens(t *testing.T) {
	texts := nasty(10_000)
	tokenizers := []text.Tokenizer{text.NewGPT2Tokenizer(), text.ByteTokenizer{}, characters(t, texts)}
	var jobs []job
	for _, of := range tokenizers {
		end := -1
		if of.Config().Name == text.GPT2 {
			end = text.GPT2EndOfText
		}
		jobs = append(jobs, job{Model: tokenizerFile(t, of, end), Texts: texts, Special: end >= 0})
	}
	for i, v := range llamacpp(t, jobs...) {
		t.Run(tokenizers[i].Config().Name, func(t *testing.T) {
			fine(t, v)
			for j, of := range texts {
				want, err := tokenizers[i].Encode(of)
				require.NoError(t, err)
				require.Equal(t, want, v.Tokens[j], "%q", of)
			}
		})
	}
}

// tokenizerFile returns a GGUF file of a tokenizer and of a small model, which has three rows more than the tokenizer
// has ids.
func tokenizerFile(t testing.TB, of text.Tokenizer, end int) string {
	c := layers.GPTConfig{VocabSize: of.Len() + 3, ContextLength: 4, EmbedDim: 4, NumLayers: 1, NumHeads: 1}
	p := layers.NewBlankParams(tensor.Float32)
	m, err := layers.NewGPT(p.Scope(""), c)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "model.gguf")
	require.NoError(t, (&pretrained.GPT{Model: m, Params: p, Tokenizer: of, EndOfText: end}).WriteGGUF(path, "f16"))
	return path
}

// characters returns a tokenizer for the characters of some texts.
func characters(t testing.TB, texts []string) text.Tokenizer {
	all := ""
	for _, of := range texts {
		all += of
	}
	of, err := text.NewVocabulary(all)
	require.NoError(t, err)
	return of
}

// The GGUF file contains the folder's template of conversations and the tokens that begin and end a text.
func TestGGUFTemplate(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(familyFolder(t, "llama"))))
	vocab := fields{}
	for i, name := range []string{"a", "b", "c", "<unk>", "ab", "<s>", "</s>"} {
		vocab[name] = i
	}
	special := func(id int, name string) fields {
		return fields{"id": id, "content": name, "special": true, "single_word": false, "lstrip": false,
			"rstrip": false, "normalized": false}
	}
	writeJSON(t, filepath.Join(dir, "tokenizer.json"), fields{"version": "1.0",
		"added_tokens": []fields{special(5, "<s>"), special(6, "</s>")},
		"normalizer":   fields{"type": "Replace", "pattern": fields{"String": " "}, "content": "▁"},
		"model": fields{"type": "BPE", "vocab": vocab, "merges": []string{"a b"}, "unk_token": "<unk>",
			"byte_fallback": true}})
	path := filepath.Join(t.TempDir(), "model.gguf")
	file := func() string {
		g, err := pretrained.ReadGPT(dir)
		require.NoError(t, err)
		require.NoError(t, g.WriteGGUF(path, "f32"))
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(content)
	}
	number := func(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }
	ids := map[string]uint32{"bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 3} // config.json's
	for key, id := range ids {
		require.Contains(t, file(), "tokenizer.ggml."+key+number(4)+number(id))
	}
	require.NotContains(t, file(), "chat_template")
	template := func(source string) string {
		return "tokenizer.chat_template" + number(8) + number(uint32(len(source))) + number(0) + source
	}
	writeJSON(t, filepath.Join(dir, "tokenizer_config.json"), fields{"chat_template": "{{ 1 }}"})
	require.Contains(t, file(), template("{{ 1 }}"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "chat_template.jinja"), []byte("{{ 2 }}"), 0o644))
	require.Contains(t, file(), template("{{ 2 }}"))
}
