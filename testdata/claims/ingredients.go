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
	{"WSD: cosine to a tenth", `{"training": {"schedule": {"type": "cosine", "peak": 0.02}}}`},
	{"rotary positions: learned ones", `{"model": {"rope": false}}`},
	{"RMS norms: layer norms", `{"model": {"norm": "layer"}}`},
	{"SwiGLU: GELU of as many parameters", `{"model": {"mlp": "gelu", "n_inner": 516}}`},
}

// ingredientSeeds are fewer than those of other tables, from 1 on.
const ingredientSeeds = 3

// ingredients trains the preset speedrun without each of its ingredients, in turns.
func (c claims) ingredients(text string) {
	seconds, losses := make([][]float64, len(ingredients)), make([][]float64, len(ingredients))
	for seed := 1; seed <= ingredientSeeds; seed++ {
		for i, one := range ingredients {
			file := filepath.Join(c.dir, fmt.Sprintf("ingredient%d.json", i))
			check(os.WriteFile(file, []byte(one.instead), 0o644))
			_, took, loss := c.train("speedrun", text, seed, "--config", file)
			seconds[i], losses[i] = append(seconds[i], took), append(losses[i], loss)
		}
	}
	fmt.Printf("\n`attention train --preset speedrun` with something else in place of each ingredient, in turns, seeds 1 "+
		"to %d: the loss of the whole validation text and the seconds until it is known\n\n"+
		"| without | nats | seconds |\n|---|---:|---:|\n", ingredientSeeds)
	for i, one := range ingredients {
		fmt.Printf("| %s | %s | %s |\n", one.name, spread(losses[i], nats), spread(seconds[i], tenths))
	}
}
