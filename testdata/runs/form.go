//go:build ignore

// Form gives run folders that the program of commit 900aa4f wrote the form of today's: the format number in config.json
// and in the metadata of the model, the types of the model and the schedule in what the model and the checkpoints
// are about, the words of sizes in both, and the state in a checkpoint's metadata as one value. With -state it does the
// last of these alone, to checkpoints. With -bare it deletes from models what they are about. The tensors keep their
// bytes.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"attention/internal/folder"
	"attention/internal/safetensors"
)

func main() {
	log.SetFlags(0)
	if change := map[string]func(metadata map[string]string){"-bare": bare, "-state": state}[os.Args[1]]; change != nil {
		for _, path := range os.Args[2:] {
			check(rewrite(path, change))
		}
		return
	}
	check(form(os.Args[1]))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// form gives a run folder today's form.
func form(run string) error {
	path := filepath.Join(run, "config.json")
	config, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	config = bytes.Replace(config, []byte("{\n"), []byte("{\n  \"format\": 2,\n"), 1)
	for old, key := range sizes {
		config = bytes.ReplaceAll(config, []byte(`"`+old+`":`), []byte(`"`+key+`":`))
	}
	if err := os.WriteFile(path, config, 0o644); err != nil {
		return err
	}
	checkpoints, err := filepath.Glob(filepath.Join(run, "checkpoints", "*.safetensors"))
	if err != nil {
		return err
	}
	for _, path := range checkpoints {
		if err := rewrite(path, func(metadata map[string]string) { inTodaysWords(metadata); state(metadata) }); err != nil {
			return err
		}
	}
	path = filepath.Join(run, "model.safetensors")
	if _, err := os.Stat(path); err != nil {
		return nil // the run was killed before it had one
	}
	return rewrite(path, func(metadata map[string]string) {
		metadata["format"] = "attention model 2"
		inTodaysWords(metadata)
	})
}

// sizes are the keys of a model that have other words today.
var sizes = map[string]string{
	"vocab": "vocab_size", "context": "context_length", "width": "embed_dim", "d_in": "embed_dim", "d_out": "out_dim",
	"d_query": "query_dim", "d_key": "key_dim", "d_attn": "attn_dim",
	"n_positions": "context_length", "n_embd": "embed_dim", "n_layer": "num_layers", "n_head": "num_heads",
	"n_kv_head": "num_kv_heads", "n_inner": "dim_feedforward", "activation_function": "activation",
	"layer_norm_epsilon": "eps", "embd_pdrop": "embedding_dropout", "attn_pdrop": "attention_dropout",
	"resid_pdrop": "residual_dropout",
}

// inTodaysWords adds the types of the model and the schedule to what a file is about, and renames its sizes.
func inTodaysWords(about map[string]string) {
	about["about.model.type"] = "layer"
	for key, value := range maps.Clone(about) {
		if key == "about.model.n_embd" {
			about["about.model.type"] = "gpt"
		}
		// about.training.schedule.cosine.peak becomes about.training.schedule.peak.
		if name, ok := strings.CutPrefix(key, "about.training.schedule."); ok {
			kind, field, _ := strings.Cut(name, ".")
			delete(about, key)
			about["about.training.schedule.type"] = kind
			about["about.training.schedule."+field] = value
		}
		at := strings.LastIndexByte(key, '.') + 1
		if name, ok := sizes[key[at:]]; ok && strings.HasPrefix(key, "about.model.") {
			delete(about, key)
			about[key[:at]+name] = value
		}
	}
}

// state makes one value of the state in a checkpoint's metadata, which had a key for each part.
func state(metadata map[string]string) {
	parts := map[string]string{"steps": metadata["step"], "evaluated": metadata["evaluated"], "config": metadata["config"],
		"frozen": metadata["frozen"], "best": metadata["best"], "observed": cmp.Or(metadata["watch"], "-1"),
		"kernels": strconv.Quote(metadata["kernels"]), "precision": strconv.Quote(cmp.Or(metadata["precision"], "full"))}
	if source, ok := metadata["source"]; ok {
		parts["source"] = strconv.Quote(source)
	}
	values := map[string]json.RawMessage{}
	for key, value := range parts {
		if value != "" {
			values[key] = json.RawMessage(value)
		}
	}
	text, err := json.Marshal(values)
	check(err)
	for _, key := range strings.Fields("step evaluated config frozen best watch kernels precision source") {
		delete(metadata, key)
	}
	metadata["format"], metadata["state"] = "attention checkpoint 3", string(text)
}

// bare deletes what a model is about. One of another program stays as it is.
func bare(metadata map[string]string) {
	for key := range metadata {
		if strings.HasPrefix(key, "about.") {
			delete(metadata, key)
		}
	}
}

// rewrite changes the metadata of a file and writes it with a new seal, or without one if it is about nothing.
func rewrite(path string, change func(metadata map[string]string)) error {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return err
	}
	change(f.Metadata)
	write := safetensors.Write
	for key := range f.Metadata {
		if strings.HasPrefix(key, "about.") {
			write = safetensors.WriteSealed
		}
	}
	return folder.WriteFile(path, func(w io.Writer) error { return write(w, f) })
}
