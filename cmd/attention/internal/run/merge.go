package run

import "attention/internal/config"

// follows are the sizes in an attention layer, and the fields of the model that they follow from unless they are given.
var follows = map[string]string{
	"d_in": "width", "d_out": "width", "d_query": "width", "d_key": "width", "d_attn": "width",
	"context_length": "context",
}

// replacements are the values of a config that replace others.
var replacements = []config.Replacement{
	{Path: "text.name", Equal: true, Old: []string{"text"}},
	{Path: "init.name", Equal: true, Old: []string{"init"}},
	{Path: "vocabulary.tokenizer", Equal: true, Old: []string{"vocabulary"}},
	{Path: "model.type", Old: []string{"model"}},
	{Path: "model.width", Equal: true, Old: following},
	{Path: "model.context", Equal: true, Old: following},
	{Path: "model.attention_form", Equal: true, Old: []string{"model.linear_attention"}},
	{Path: "model.attention.layer", Equal: true, Old: following},
	{Path: "model.attention.num_heads", Equal: true, Old: following},
	{Path: "training.schedule.type", Old: []string{"training.schedule"}},
	{Path: "training.solver.name", Old: []string{"training.solver", // and the learning rate, which was for it
		"training.schedule.peak", "training.schedule.floor", "training.schedule.rate"}},
}

// following are the paths of the sizes that follow from others.
var following = func() (paths []string) {
	for key := range follows {
		paths = append(paths, "model.attention."+key)
	}
	return paths
}()
