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
	all := inTurns(seeds, len(kinds), func(i, seed int) (seconds, loss float64) {
		_, seconds, loss = c.train(kinds[i].preset, text, seed, kinds[i].flags...)
		return seconds, loss
	})
	table("`attention train --preset speedrun --text tinyshakespeare.txt` beside nano-char, in turns: seconds from the " +
		"start of the process until the loss of the whole validation text is known, and that loss")
	for i, kind := range kinds {
		row(kind.name+", seconds", all.seconds[i], tenths)
		row(kind.name+", nats", all.losses[i], nats)
	}
}
