package pretrained

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"attention/internal/config"
)

// A key of config.json is a field of settings, or refused, or ignored. testdata/families/keys.json lists the keys that
// transformers uses for each family.

// sharedKeys are the keys of all families except GPT-2.
const sharedKeys = `vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads
	max_position_embeddings tie_word_embeddings attention_dropout
	rope_scaling rope_parameters partial_rotary_factor original_max_position_embeddings `

// refusal holds the only value that a key may have, and the reason.
type refusal struct{ want, why string }

// refusals are the keys that transformers uses and that are not supported here. Values that are refused would change a
// model's results.
var refusals = map[string]refusal{
	"quantization_config":             {"none", "quantized weights are not read; give the folder they were made from"},
	"auto_map":                        {"none", "code beside a model is not run"},
	"per_layer_config":                {"none", "layers with a config of their own are not supported"},
	"is_causal":                       {"true", "attention to later positions is not supported"},
	"use_bidirectional_attention":     {"false", "attention to later positions is not supported"},
	"head_dim":                        {"none", "heads are hidden_size/num_attention_heads wide"},
	"scale_attn_weights":              {"true", "attention without a scale is not supported"},
	"scale_attn_by_inverse_layer_idx": {"false", "a scale for each layer is not supported"},
	"add_cross_attention":             {"false", "a decoder with an encoder is not supported"},
	"position_embedding_type":         {`"absolute"`, "relative positions are not supported"},
	"is_decoder":                      {"false", "BERT as a decoder is not supported"},
	"problem_type":                    {`"single_label_classification"`, "texts have one class each"},
	"tie_word_embeddings":             {"true", "scores of tokens by weights of their own are not supported"},
}

// alwaysRefused are the keys in refusals that count for all families.
const alwaysRefused = "quantization_config auto_map per_layer_config is_causal "

// check returns an error for a key of config.json that would change the model's results and is not supported.
func (f *family) check(contents []byte) error { return checkRefused(contents, alwaysRefused+f.refuses) }

// checkRefused returns an error for a refused value of one of the keys in refusals.
func checkRefused(contents []byte, keys string) error {
	refused := strings.Fields(keys)
	for key, value := range config.Members(contents) {
		r, ok := refusals[key]
		switch {
		case !ok, !slices.Contains(refused, key), string(value) == r.want, r.want != "true" && isNothing(value):
		default:
			return fmt.Errorf("%s: got %s, want %s: %s", key, short(value), r.want, r.why)
		}
	}
	return nil
}

// harmlessKeys are keys of config.json that do not change a model's results for given ids: special tokens, initial
// values, settings of training, and the author of the file. Keys that begin with _ or unsloth are harmless too.
const harmlessKeys = `architectures model_type torch_dtype dtype transformers_version use_cache vocabulary format
	bos_token_id eos_token_id pad_token_id sep_token_id unk_token_id cls_token_id mask_token_id decoder_start_token_id
	tokenizer_class tokenizer_name prefix model_max_length max_sequence_length max_seq_len seq_length n_ctx name_or_path
	initializer_range initializer_factor pretraining_tp gradient_checkpointing cache_implementation is_decoder
	is_llama_config is_encoder_decoder chunk_size_feed_forward license neuron use_bfloat16 use_flash_attn
	transformers.js_config task_specific_params problem_type finetuning_task id2label label2id num_labels
	classifier_dropout hidden_dropout_prob summary_activation summary_first_dropout summary_proj_to_labels summary_type
	summary_use_proj reorder_and_upcast_attn n_special predict_special_tokens output_past
	output_attentions output_hidden_states return_dict torchscript attn_implementation experts_implementation
	hidden_act sliding_window_size max_window_layers rope_interleaved finetuned attn_factor mrope_section type
	` + generationKeys

// generationKeys are keys about sampling, for which the program has flags.
const generationKeys = `max_length min_length do_sample early_stopping num_beams num_beam_groups num_return_sequences
	temperature top_k top_p top_h min_p typical_p repetition_penalty length_penalty diversity_penalty
	no_repeat_ngram_size max_new_tokens min_new_tokens max_time output_scores output_logits return_dict_in_generate
	num_assistant_tokens num_assistant_tokens_schedule assistant_confidence_threshold assistant_lookbehind
	target_lookbehind assistant_early_exit max_matching_ngram_size prompt_lookup_num_tokens prefill_chunk_size
	trust_remote_code chat_format max_window_size forced_bos_token_id forced_eos_token_id disable_compile `

// ignored returns the keys of config.json and generation_config.json that have a value but no effect here, unless they
// are known to be harmless.
func (f *Folder) ignored(generation []byte) (keys []string) {
	of := f.config.family
	keys = ignoredIn("", f.contents, of.keys+" "+of.refuses+" "+alwaysRefused+harmlessKeys)
	for _, name := range []string{"rope_scaling", "rope_parameters"} {
		rope := members(f.contents)[name]
		keys = append(keys, ignoredIn(name+".", rope, ropeKeys+harmlessKeys)...)
		for _, kind := range []string{fullAttention, slidingAttention} {
			keys = append(keys, ignoredIn(name+"."+kind+".", members(rope)[kind], ropeKeys+harmlessKeys)...)
		}
	}
	return append(keys, ignoredIn(generationName+": ", generation, harmlessKeys)...)
}

// ignoredIn returns the unknown keys of a JSON object that have a value, each with a prefix.
func ignoredIn(prefix string, contents []byte, known string) (keys []string) {
	all := strings.Fields(known)
	for key, value := range config.Members(contents) {
		if !slices.Contains(all, key) && !strings.HasPrefix(key, "_") && !strings.HasPrefix(key, "unsloth") &&
			!isNothing(value) {
			keys = append(keys, fmt.Sprintf("%s%.60s", prefix, key))
		}
	}
	return keys
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
