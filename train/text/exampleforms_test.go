package text_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// brief returns an example in short form: the roles' first letters with their texts, in brackets if not learned.
func brief(t *testing.T, e text.Example) string {
	if e.Messages == nil {
		return e.Text + "|" + e.Label
	}
	var all []string
	for _, m := range e.Messages {
		said := m.Role[:1] + ":" + m.Text()
		if calls, ok := m.Other.Get("tool_calls"); ok {
			written, err := json.Marshal(calls)
			require.NoError(t, err)
			said += strings.ReplaceAll(string(written), " ", "")
		}
		if m.Weight != nil && *m.Weight == 0 {
			said = "[" + said + "]"
		}
		all = append(all, said)
	}
	shown := strings.Join(all, " ")
	if e.Pair {
		shown += " pair"
	}
	if e.Tools != nil {
		shown += fmt.Sprintf(" %d tools", len(e.Tools))
	}
	if e.Variables != nil {
		shown += fmt.Sprint(" ", e.Variables.Keys())
	}
	return shown
}

// A row of each form that other programs accept is read as they read it, and its ignored keys are reported. The sources
// are their files of July and August 2026: TRL 1.16 (data_utils.py, sft_trainer.py), axolotl (docs/dataset-formats,
// prompt_strategies/chat_template.py), LlamaFactory (data/README.md, v1/plugins/data_plugins/converter.py,
// v1/utils/types.py), unsloth (studio/backend/utils/datasets/format_conversion.py, dataset_none_detect.py), mlx-lm
// (tuner/datasets.py), OpenAI's guide of supervised fine-tuning, Mistral's mistral-finetune, and ms-swift's guide of
// custom datasets.
func TestFormsOfOthers(t *testing.T) {
	const hi, talk = `{"role": "user", "content": "Hi"}`, `[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]`
	const tools = `[{"type": "function", "function": {"name": "f"}}]`
	answer := func(more string) string {
		return `{"messages": [` + hi + `, {"role": "assistant", "content": "Yo"}, ` + hi +
			`, {"role": "assistant", "content": "No", ` + more + `}]}`
	}
	const both, first = "u:Hi a:Yo u:Hi a:No", "u:Hi a:Yo u:Hi [a:No]"
	quoted := func(s string) string { return strings.ReplaceAll(s, `"`, `\"`) }
	for _, row := range []struct{ source, row, want, unread string }{
		{"TRL, OpenAI, mlx-lm: messages", `{"messages": ` + talk + `}`, "u:Hi a:Yo", ""},
		{"TRL: text", `{"text": "Hi"}`, "Hi|", ""},
		{"TRL, mlx-lm: prompt and completion", `{"prompt": "Hi", "completion": "Yo"}`, "u:Hi a:Yo pair", ""},
		{"TRL: lists of messages", `{"prompt": [` + hi + `, {"role": "assistant", "content": "Eh"}, ` + hi + `], ` +
			`"completion": [{"role": "assistant", "content": "Yo"}]}`, "[u:Hi] [a:Eh] [u:Hi] a:Yo", ""},
		{"TRL, mlx-lm, axolotl: tools", `{"messages": ` + talk + `, "tools": ` + tools + `}`, "u:Hi a:Yo 1 tools", ""},
		{"TRL, axolotl: tools as JSON", `{"messages": ` + talk + `, "tools": "` + quoted(tools) + `"}`, "u:Hi a:Yo 1 tools", ""},
		{"mlx-lm: tools of a completion", `{"prompt": "Hi", "completion": "Yo", "tools": ` + tools + `}`, "u:Hi a:Yo 1 tools", ""},
		{"TRL: chat_template_kwargs", `{"messages": ` + talk + `, "chat_template_kwargs": {"enable_thinking": false}}`,
			"u:Hi a:Yo [enable_thinking]", ""},
		{"TRL, unsloth: conversations of role and content", `{"conversations": ` + talk + `}`, "u:Hi a:Yo", ""},
		{"unsloth: texts", `{"texts": ` + talk + `}`, "u:Hi a:Yo", ""},
		{"unsloth: roles input and output", `{"conversations": [{"from": "input", "value": "Hi"}, {"from": "output", "value": "Yo"}]}`,
			"u:Hi a:Yo", ""},
		{"axolotl: messages as JSON", `{"messages": "` + quoted(talk) + `"}`, "u:Hi a:Yo", ""},
		{"axolotl: system beside messages", `{"messages": ` + talk + `, "system": "Be."}`, "s:Be. u:Hi a:Yo", ""},
		{"axolotl: human and gpt as roles", `{"messages": [{"role": "human", "content": "Hi"}, {"role": "gpt", "content": "Yo"}]}`,
			"u:Hi a:Yo", ""},
		{"axolotl: from and value in messages", `{"messages": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yo"}]}`,
			"u:Hi a:Yo", ""},
		{"axolotl: train", answer(`"train": false`), first, ""},
		{"axolotl: train", answer(`"train": true`), both, ""},
		{"OpenAI, Mistral: weight", answer(`"weight": 0`), first, ""},
		{"OpenAI: weight", answer(`"weight": 1`), both, ""},
		{"LlamaFactory: loss_weight", answer(`"loss_weight": 0.0`), first, ""},
		{"LlamaFactory: loss_weight", answer(`"loss_weight": 1.0`), both, ""},
		{"ms-swift: loss", answer(`"loss": false`), first, ""},
		{"torchtune: masked", answer(`"masked": true`), first, ""},
		{"axolotl: a part as value or content", `{"messages": [{"role": "user", "content": [{"type": "text", "value": "Hi"}]}, ` +
			`{"role": "assistant", "content": [{"type": "text", "content": "Y"}, {"type": "text", "text": "o", "train": true}]}]}`,
			"u:Hi a:Yo", ""},
		{"LlamaFactory: ShareGPT", `{"conversations": [{"from": "human", "value": "Hi"}, {"from": "function_call", "value": ` +
			`"{\"name\": \"f\", \"arguments\": {\"a\": 1}}"}, {"from": "observation", "value": "3"}, {"from": "gpt", "value": ` +
			`"Yo"}], "system": "Be.", "tools": "` + quoted(tools) + `"}`,
			`s:Be. u:Hi a:[{"type":"function","function":{"name":"f","arguments":{"a":1}}}] t:3 a:Yo 1 tools`, ""},
		{"LlamaFactory: several calls", `{"conversations": [{"from": "function_call", "value": "[{\"name\": \"f\"}, {\"name\": ` +
			`\"g\"}]"}]}`, `a:[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]`, ""},
		{"LlamaFactory: Alpaca", `{"instruction": "Add", "input": "1 2", "output": "3", "system": "Be.", "history": [["Hi", ` +
			`"Yo"]]}`, "s:Be. u:Hi a:Yo u:Add\n\n### Input:\n1 2 a:3", ""},
		{"LlamaFactory: empty columns", `{"instruction": "Hi", "input": "", "output": "Yo", "system": "", "history": []}`,
			"u:Hi a:Yo", ""},
		{"LlamaFactory: a sample of version 1", `{"messages": [{"role": "user", "content": [{"type": "text", "value": "Hi"}], ` +
			`"loss_weight": 0.0}, {"role": "assistant", "content": [{"type": "text", "value": "Yo"}], "loss_weight": 1.0}]}`,
			"[u:Hi] a:Yo", ""},
		{"OpenAI: calls", `{"messages": [` + hi + `, {"role": "assistant", "tool_calls": [{"id": "x"}]}], "parallel_tool_calls": ` +
			`false}`, `u:Hi a:[{"id":"x"}]`, "parallel_tool_calls"},
		{"two forms", `{"messages": ` + talk + `, "text": "Hi Yo", "prompt": "Hi"}`, "u:Hi a:Yo", "text prompt"},
		{"other keys", `{"id": 7, "messages": ` + talk + `, "source": "x", "score": 0.5, "label": true}`, "u:Hi a:Yo",
			"id source score label"},
		{"nothing in them", `{"messages": ` + talk + `, "id": null, "source": "", "images": []}`, "u:Hi a:Yo", ""},
		{"a class by its number", `{"text": "Hi", "label": 1}`, "Hi|1", ""},
		{"a truth value", `{"text": "Hi", "label": true}`, "Hi|true", ""},
		{"no class", `{"text": "Hi", "label": null}`, "Hi|", ""},
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(row.row), 0o644))
		file, err := text.OpenExamples(path)
		require.NoError(t, err, row.source)
		e, err := file.At(0)
		require.NoError(t, err, row.source)
		require.Equal(t, row.want, brief(t, e), row.source)
		unread := map[string]int{}
		for _, key := range strings.Fields(row.unread) {
			unread[key] = 1
		}
		require.Equal(t, unread, file.Unread(), row.source)
		require.NoError(t, file.Close())
	}
}

// The error about an unsupported key that would change the learned tokens names the key.
func TestRefusedKeys(t *testing.T) {
	const hi, yo = `{"role": "user", "content": "Hi"}`, `{"role": "assistant", "content": "Yo"}`
	const beside = `want none: it is not read here and would change what is learned`
	row := func(more string) string { return `{"messages": [` + hi + `, ` + yo + `], ` + more + `}` }
	message := func(more string) string {
		return `{"messages": [` + hi + `, {"role": "assistant", "content": "Yo", ` + more + `}]}`
	}
	part := func(part string) string {
		return `{"messages": [` + hi + `, {"role": "assistant", "content": [` + part + `]}]}`
	}
	for _, row := range []struct{ source, row, want string }{
		{"TRL, axolotl: pictures", row(`"images": ["a.png"]`), `images: got it beside messages, ` + beside},
		{"LlamaFactory: sounds", row(`"audios": ["a.wav"]`), `audios: got it beside messages, ` + beside},
		{"OpenAI's former functions", row(`"functions": [{}]`), `functions: got it beside messages, ` + beside},
		{"TRL, axolotl: tokens", `{"text": "a", "input_ids": [1]}`, `input_ids: got it beside text, ` + beside},
		{"axolotl: tokens", `{"input_ids": [1], "labels": [1]}`, `got the keys "input_ids", "labels", want messages, `},
		{"axolotl: segments", `{"segments": [{"label": true, "text": "a"}]}`, `got the keys "segments", want messages, `},
		{"TRL: preferences", `{"prompt": "a", "chosen": "b", "rejected": "c"}`, `got the keys "prompt", "chosen", "rejected", want`},
		{"LlamaFactory: preferences", `{"conversations": [` + hi + `, ` + yo + `, ` + hi + `], "chosen": ` + yo + `}`,
			"chosen: got it beside conversations, " + beside},
		{"LlamaFactory: kto_tag", row(`"kto_tag": false`), "kto_tag: got false, want rows to learn from only"},
		{"TRL: a completion that is not wanted", `{"prompt": "a", "completion": "b", "label": false}`,
			"label: got false, want rows to learn from only"},
		{"another name of system", row(`"system_prompt": "a"`), `system_prompt: got it beside messages, ` + beside},
		{"history beside messages", row(`"history": [["a", "b"]]`), "history: got it beside messages, " + beside},
		{"tools beside a text", `{"text": "a", "tools": [{}]}`, "tools: got it beside text, " + beside},
		{"tools of another form", row(`"tools": {"name": "f"}`), `tools: got {"name": "f"}, want a list`},
		{"another template", row(`"chat_template_kwargs": {"chat_template": "x"}`),
			"chat_template_kwargs: got chat_template, want other variables of the template"},
		{"two system messages", `{"messages": [{"role": "system", "content": "A"}, ` + yo + `], "system": "B"}`,
			"system: got another text than the system message, want one of them"},
		{"LlamaFactory: history", `{"instruction": "a", "output": "b", "history": [["c"]]}`,
			`history: got ["c"] in element 1, want an instruction and an output`},
		{"LlamaFactory: half a weight", message(`"loss_weight": 0.5`), "messages: message 2: loss_weight: got 0.5, want 0 or 1"},
		{"axolotl: train_detail", message(`"train_detail": [{}]`),
			"messages: message 2: train_detail: got it, want none: a message is learned whole or not at all"},
		{"axolotl: a part that is not learned", part(`{"type": "text", "text": "a", "train": false}`),
			"messages: message 2: content: part 1: train: got false, want none: a message is learned whole or not at all"},
		{"axolotl: a turn of the user that is", `{"messages": [{"role": "user", "content": "a", "train": true}, ` + yo + `]}`,
			"messages: message 1: train: got it for the role user, want 0: what the assistant says is learned"},
		{"weights that differ", message(`"weight": 0, "train": true`),
			"messages: message 2: train: got true, want what the other key says"},
		{"axolotl: reasoning of parts", message(`"reasoning_content": [{"type": "text"}]`),
			`messages: message 2: reasoning_content: got [{"type": "text"}], want a text`},
		{"LlamaFactory: a part of another kind", part(`{"type": "tool_call", "value": "{}"}`),
			`messages: message 2: content: part 1: got the type "tool_call", want text`},
		{"a part without a text", part(`{"type": "text", "words": "a"}`),
			`messages: message 2: content: part 1: got the keys "type", "words", want type and text`},
		{"OpenAI's former calls", message(`"function_call": {"name": "f"}`),
			"messages: message 2: function_call: got it, want tool_calls"},
		{"LlamaFactory: no JSON of a call", `{"conversations": [{"from": "function_call", "value": "f(1)"}]}`,
			"conversations: message 1: function_call: got a content that is no JSON of a call, want an object with name"},
		{"roles that nothing knows", `{"messages": [{"role": "narrator", "content": "a"}, ` + hi + `]}`,
			`messages: got the roles "narrator", "user" and no answer of the assistant to learn, want one; known are system,`},
		{"a list of classes", `{"text": "a", "label": [1]}`, "label: got [1], want a text or a whole number"},
		{"half a class", `{"text": "a", "label": 0.5}`, "label: got 0.5, want a text or a whole number"},
		{"many keys", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1}`,
			`got the keys "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" and 2 more, want messages`},
	} {
		var e text.Example
		err := json.Unmarshal([]byte(row.row), &e)
		require.ErrorContains(t, err, row.want, row.source)
		require.NotContains(t, err.Error(), "\n")
	}
}
