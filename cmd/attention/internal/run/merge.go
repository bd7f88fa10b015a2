package run

import "maps"

// follows are the sizes in an attention layer, and the fields of the model that they follow from unless they are given.
var follows = map[string]string{
	"d_in": "width", "d_out": "width", "d_query": "width", "d_key": "width", "d_attn": "width",
	"context_length": "context",
}

// replacements are the paths of values that replace others: those at or below the paths old.
var replacements = []struct {
	path  string
	equal bool // whether a value that is equal to the one before replaces them, too
	old   []string
}{
	{path: "text.name", equal: true, old: []string{"text"}},
	{path: "init.name", equal: true, old: []string{"init"}},
	{path: "vocabulary.tokenizer", equal: true, old: []string{"vocabulary"}},
	{path: "model.type", old: []string{"model"}},
	{path: "model.width", equal: true, old: following},
	{path: "model.context", equal: true, old: following},
	{path: "model.attention.layer", equal: true, old: following},
	{path: "model.attention.num_heads", equal: true, old: following},
	{path: "training.schedule.type", old: []string{"training.schedule"}},
	{path: "training.solver.name", old: []string{"training.solver", // and the learning rate, which was for it
		"training.schedule.peak", "training.schedule.floor", "training.schedule.rate"}},
}

// following are the paths of the sizes that follow from others.
var following = func() (paths []string) {
	for key := range follows {
		paths = append(paths, "model.attention."+key)
	}
	return paths
}()

// merge puts the values of over in place of those at their paths, and of those that they replace.
func (v values) merge(over values) {
	for _, r := range replacements {
		before, there := v[r.path]
		after, given := over[r.path]
		if given && (r.equal || there && before.json != after.json) {
			maps.DeleteFunc(v, func(path string, _ value) bool { return under(path, r.old...) })
		}
	}
	maps.Copy(v, over)
}
