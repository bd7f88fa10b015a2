package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// ingredients are what the preset speedrun is made of: what stands in place of each, as a file for --config.
var ingredients = []struct{ name, instead string }{
	{"all", `{}`},
	{"Muon: AdamW", `{"training": {"solver": {"name": "adamw", "beta2": 0.99}, "schedule": {"peak": 0.003}}}`},
	{"Nesterov's momentum: plain", `{"training": {"solver": {"nesterov": false}}}`},
	{"norms of queries and keys", `{"model": {"qk_norm": ""}}`},
	{"context of 32 at first: 64", `{"context_growth": []}`},
	{"momentum of 0.75: 0.95", `{"training": {"solver": {"momentum": 0.95}}}`},
	{"cosine: warm-up, stable, decay", `{"training": {"schedule": {"type": "wsd", "peak": 0.015}}}`},
	{"rotary positions: learned ones", `{"model": {"rope": false}}`},
	{"RMS norms: layer norms", `{"model": {"norm": "layer"}}`},
	{"SwiGLU: GELU of as many parameters", `{"model": {"mlp": "gelu", "dim_feedforward": 516}}`},
}

// ingredientSeeds are fewer than those of other tables, from 1 on.
const ingredientSeeds = 3

// ingredients trains the preset speedrun without each of its ingredients, in turns.
func (c claims) ingredients(text string) {
	all := inTurns(ingredientSeeds, len(ingredients), func(i, seed int) (seconds, loss float64) {
		file := filepath.Join(c.dir, fmt.Sprintf("ingredient%d.json", i))
		check(os.WriteFile(file, []byte(ingredients[i].instead), 0o644))
		_, seconds, loss = c.train("speedrun", text, seed, "--config", file)
		return seconds, loss
	})
	fmt.Printf("\n`attention train --preset speedrun` with something else in place of each ingredient, in turns, seeds 1 "+
		"to %d: the loss of the whole validation text and the seconds until it is known\n\n"+
		"| without | nats | seconds |\n|---|---:|---:|\n", ingredientSeeds)
	for i, one := range ingredients {
		all.summary(i, one.name)
	}
}
