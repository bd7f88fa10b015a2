package text_test

import (
	"context"
	"fmt"

	"attention/train/text"
)

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
