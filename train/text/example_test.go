package text_test

import (
	"context"
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

// A template makes the text of a conversation, and shows which parts of it are the assistant's.
func ExampleTemplate() {
	template, err := text.ParseTemplate(`{% for message in messages %}
<|{{ message.role }}|>{{ message.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	talk := []text.Message{{Role: "user", Content: "Hello"}, {Role: "assistant", Content: "Hi!"}}
	said, spans, err := template.RenderSpans(context.Background(), talk, text.TemplateConfig{})
	fmt.Println(said, err)
	for _, s := range spans {
		fmt.Printf("%q\n", said[s.From:s.To])
	}
	asked, err := template.Render(context.Background(), talk[:1], text.TemplateConfig{AddGenerationPrompt: true})
	fmt.Println(asked, err)
	// Output:
	// <|user|>Hello<|end|>
	// <|assistant|>Hi!<|end|>
	//  <nil>
	// "Hi!<|end|>"
	// <|user|>Hello<|end|>
	// <|assistant|> <nil>
}
