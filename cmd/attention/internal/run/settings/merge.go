package settings

import (
	"attention/internal/config"
)

// follows are the sizes in an attention layer, and the fields of the model that they follow from unless they are given.
var follows = map[string]string{
	"embed_dim": "embed_dim", "out_dim": "embed_dim", "query_dim": "embed_dim", "key_dim": "embed_dim",
	"attn_dim": "embed_dim", "context_length": "context_length",
}

// replacements are the values of a config that replace others.
var replacements = []config.Replacement{
	{Path: "text.name", Equal: true, Old: []string{"text"}},
	{Path: "init.name", Equal: true, Old: []string{"init"}},
	{Path: "vocabulary.tokenizer", Equal: true, Old: []string{"vocabulary"}},
	{Path: "model.type", Old: []string{"model"}},
	{Path: "model.embed_dim", Equal: true, Old: following},
	{Path: "model.context_length", Equal: true, Old: following},
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
