package run

import (
	"fmt"

	"attention/internal/config"
)

// A part is some of a config's values and their origin: a preset, the model of --init, a file or the flags.
type part struct {
	from   string // for errors; empty for the flags
	values tree
}

// parsePart parses a part.
func parsePart(from string, text []byte) (part, error) {
	t, err := parseTree(text)
	return part{from, t}, inPart(from, err)
}

// check refuses fields that a config does not have and values of another type. A model and a schedule whose types the
// part leaves out are of these.
func (p part) check(model, schedule string) error {
	t := tree{}
	if treeAt(p.values, "model") != nil {
		setAt(t, "model.type", model)
	}
	if treeAt(p.values, "training.schedule") != nil {
		setAt(t, "training.schedule.type", schedule)
	}
	merge(t, p.values)
	return inPart(p.from, new(Config).decode(t))
}

// inPart returns an error about a part: it begins with the part's origin.
func inPart(from string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", from, config.JSON(err))
}

// follows are the sizes in an attention layer, and the fields of the model that they follow from unless they are given.
var follows = map[string]string{
	"d_in": "width", "d_out": "width", "d_query": "width", "d_key": "width", "d_attn": "width",
	"context_length": "context",
}

// merge puts the values of over into those of base. Objects are merged and other values replaced, but
//   - a model, schedule or solver of another type replaces the one before, and a learning rate was for its solver;
//   - a newly named text, initial weights or tokenizer replaces the one before;
//   - sizes in a layer that follow from others are left out if those change.
func merge(base, over tree) { mergeAt("", base, over) }

func mergeAt(path string, base, over tree) {
	switch path {
	case "text", "init":
		replaceIf(over["name"] != nil, base)
	case "vocabulary":
		replaceIf(over["tokenizer"] != nil, base)
	case "training":
		if before, after := treeAt(base, "solver")["name"], treeAt(over, "solver")["name"]; differ(before, after) {
			drop(treeAt(base, "schedule"), "peak", "floor", "rate")
		}
	case "training.solver":
		replaceIf(differ(base["name"], over["name"]), base)
	case "training.schedule":
		replaceIf(differ(base["type"], over["type"]), base)
	case "model":
		replaceIf(differ(base["type"], over["type"]), base)
		layer := treeAt(over, "attention")
		if over["width"] != nil || over["context"] != nil || layer["layer"] != nil || layer["num_heads"] != nil {
			for key := range follows {
				delete(treeAt(base, "attention"), key)
			}
		}
	}
	for key, value := range over {
		inner, ok := value.(tree)
		if !ok {
			base[key] = value
			continue
		}
		before, ok := base[key].(tree)
		if !ok {
			before = tree{}
			base[key] = before
		}
		if path != "" {
			key = path + "." + key
		}
		mergeAt(key, before, inner)
	}
}

// differ reports whether there are two values and they differ.
func differ(before, after any) bool { return before != nil && after != nil && before != after }

func replaceIf(another bool, base tree) {
	if another {
		clear(base)
	}
}

func drop(t tree, keys ...string) {
	for _, key := range keys {
		delete(t, key)
	}
}
