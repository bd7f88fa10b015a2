package text_test

import (
	"fmt"

	"attention/train/text"
)

func ExampleVocabulary() {
	v, err := text.NewVocabulary("hello")
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, err := v.Encode("hole")
	fmt.Println(v.Characters(), ids, err)
	_, err = v.Encode("help")
	fmt.Println(err)
	// Output:
	// ehlo [1 3 2 0] <nil>
	// text: got 'p' at position 3, want one of the vocabulary's 4 characters
}

// Folders of Llama, Qwen and Gemma have a tokenizer.json; this one has a small vocabulary.
func ExampleReadTokenizer() {
	t, err := text.ReadTokenizer([]byte(`{
		"added_tokens": [{"id": 5, "content": "<|end|>", "special": true}],
		"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"},
		"decoder": {"type": "Metaspace", "replacement": "▁"},
		"model": {"type": "BPE", "vocab": {"▁": 0, "h": 1, "i": 2, "hi": 3, "▁hi": 4}, "merges": ["h i", "▁ hi"]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, err := t.Encode("hi hi<|end|>")
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := t.Decode(ids)
	fmt.Println(ids, back, err)
	// Output: [4 4 5] hi hi<|end|> <nil>
}
