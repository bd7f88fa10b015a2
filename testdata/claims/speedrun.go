package main

// speedrun trains the preset of that name, with products of bf16 too, and nano-char in turns.
func (c claims) speedrun(text string) {
	kinds := []struct {
		name, preset string
		flags        []string
	}{
		{"speedrun", "speedrun", nil},
		{"speedrun, `--precision bf16`", "speedrun", []string{"--precision", "bf16"}},
		{"nano-char", "nano-char", nil},
	}
	seconds, losses := make([][]float64, len(kinds)), make([][]float64, len(kinds))
	for seed := 1; seed <= seeds; seed++ {
		for i, kind := range kinds {
			_, took, loss := c.train(kind.preset, text, seed, kind.flags...)
			seconds[i], losses[i] = append(seconds[i], took), append(losses[i], loss)
		}
	}
	table("`attention train --preset speedrun --text tinyshakespeare.txt` beside nano-char, in turns: seconds from the " +
		"start of the process until the loss of the whole validation text is known, and that loss")
	for i, kind := range kinds {
		row(kind.name+", seconds", seconds[i], tenths)
		row(kind.name+", nats", losses[i], nats)
	}
}
