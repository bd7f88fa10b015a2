//go:build ignore

// Form gives run folders that the program of commit 900aa4f wrote the form of today's: the format number in config.json
// and in the metadata of the model, and the types of the model and the schedule in what the model and the checkpoints
// are about. With -bare it deletes from models what they are about. The tensors keep their bytes.
package main

import (
	"bytes"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"attention/internal/folder"
	"attention/internal/safetensors"
)

func main() {
	log.SetFlags(0)
	if os.Args[1] == "-bare" {
		for _, path := range os.Args[2:] {
			check(bare(path))
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
	config = bytes.Replace(config, []byte("{\n"), []byte("{\n  \"format\": 1,\n"), 1)
	if err := os.WriteFile(path, config, 0o644); err != nil {
		return err
	}
	checkpoints, err := filepath.Glob(filepath.Join(run, "checkpoints", "*.safetensors"))
	if err != nil {
		return err
	}
	for _, path := range checkpoints {
		if err := rewrite(path, addTypes); err != nil {
			return err
		}
	}
	path = filepath.Join(run, "model.safetensors")
	if _, err := os.Stat(path); err != nil {
		return nil // the run was killed before it had one
	}
	return rewrite(path, func(metadata map[string]string) {
		metadata["format"] = "attention model 1"
		addTypes(metadata)
	})
}

// addTypes adds the types of the model and the schedule to what a file is about.
func addTypes(about map[string]string) {
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
	}
}

// bare deletes what a model is about. One of another program stays as it is.
func bare(path string) error {
	return rewrite(path, func(metadata map[string]string) {
		for key := range metadata {
			if strings.HasPrefix(key, "about.") {
				delete(metadata, key)
			}
		}
	})
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
