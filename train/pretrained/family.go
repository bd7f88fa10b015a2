package pretrained

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"attention/internal/config"
	"attention/layers"
)

// family is a family of models as data: what its config.json says, and what its weights are called. A new one is a
// file with such a value, a line in families and a folder of test values.
type family struct {
	name         string // model_type
	architecture string // the class in transformers
	classifier   string // that of models which give texts classes; "" if there is none

	keys   string   // of config.json that shape a model; each is a field of settings
	unused string   // keys that change no number here, beside harmlessKeys
	absent settings // what keys mean that a config.json leaves out

	block  layers.BlockConfig               // what no key says
	scaled bool                             // embeddings are multiplied by √E
	slides func(s settings, layer int) bool // whether a layer has the window, without layer_types; nil means none has

	weights names
	gguf    ggufForm
}

// families are all families.
var families = []*family{&gpt2, &llama, &mistral, &qwen2, &qwen3, &smollm3, &olmo2, &gemma2, &gemma3, &gptNeoX}

// familyNames returns the model_types of all families.
func familyNames() string {
	var all []string
	for _, f := range families {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

// familyOf returns the family of a model_type.
func familyOf(modelType string) (*family, error) {
	for _, f := range families {
		if f.name == modelType {
			return f, nil
		}
	}
	return nil, fmt.Errorf(`model_type: got %.60q, want one of %s: %w`, modelType, familyNames(), ErrNotGPT)
}

// sharedKeys are the keys of all families but GPT-2.
const sharedKeys = `vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads
	max_position_embeddings tie_word_embeddings attention_dropout `

// harmlessKeys are keys of config.json that change no number that a model computes from ids: what a text begins and
// ends with, how weights begin, how text is drawn, and who wrote the file.
const harmlessKeys = `architectures model_type torch_dtype dtype transformers_version use_cache vocabulary format
	bos_token_id eos_token_id pad_token_id sep_token_id decoder_start_token_id tokenizer_class prefix
	initializer_range pretraining_tp gradient_checkpointing cache_implementation is_decoder is_llama_config
	_name_or_path transformers.js_config task_specific_params problem_type finetuning_task id2label label2id
	_num_labels num_labels classifier_dropout
	summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj
	output_attentions output_hidden_states return_dict return_dict_in_generate output_scores torchscript
	_attn_implementation attn_implementation _attn_implementation_autoset _commit_hash unsloth_version unsloth_fixed
	max_length min_length do_sample early_stopping num_beams num_beam_groups num_return_sequences temperature top_k
	top_p typical_p repetition_penalty length_penalty diversity_penalty no_repeat_ngram_size max_new_tokens`

// refusedKeys are keys of models that no family here is, each with what to do.
var refusedKeys = map[string]string{
	"quantization_config": "quantized weights are not read, but those that they were made from",
	"auto_map":            "code beside a model is not run",
	"num_local_experts":   "a mixture of experts is not supported",
	"num_experts":         "a mixture of experts is not supported",
	"n_routed_experts":    "a mixture of experts is not supported",
}

// check refuses a key of config.json that would change what the model computes, and that the family does not have.
func (f *family) check(contents []byte) error {
	known := map[string]bool{}
	for _, key := range strings.Fields(f.keys + " " + f.unused + " " + harmlessKeys) {
		known[key] = true
	}
	for key, value := range config.Members(contents) {
		if !known[key] && !isNothing(value) {
			return fmt.Errorf("%.100s: got %s, want null, false or 0: what it changes in a model of %s is not known here",
				key, short(value), f.name)
		}
	}
	return nil
}

// checkKind refuses what no family has.
func checkKind(contents []byte) error {
	for key, value := range config.Members(contents) {
		if hint, ok := refusedKeys[key]; ok && !isNothing(value) {
			return fmt.Errorf("%s: got %s, want none: %s", key, short(value), hint)
		}
	}
	return nil
}

// isNothing reports whether a JSON value is null, false, 0 or empty.
func isNothing(value []byte) bool {
	switch text := strings.Join(strings.Fields(string(value)), ""); text {
	case "null", "false", `""`, "[]", "{}":
		return true
	default:
		x, err := strconv.ParseFloat(text, 64)
		return err == nil && x == 0
	}
}

// short returns the beginning of a JSON value, on one line.
func short(value []byte) string {
	text := []rune(strings.Join(strings.Fields(string(value)), " "))
	if len(text) > 60 {
		return string(text[:60]) + "…"
	}
	return string(text)
}

// members returns the members of a JSON object.
func members(text []byte) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for key, value := range config.Members(text) {
		all[key] = json.RawMessage(value)
	}
	return all
}
