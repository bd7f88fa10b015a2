package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// nanoChar trains nanoGPT's small character model.
func (c claims) nanoChar(text, name string, flags ...string) {
	var whole, batches []float64
	for seed := 1; seed <= seeds; seed++ {
		out, _, loss := c.train("nano-char", text, seed, flags...)
		whole, batches = append(whole, loss), append(batches, c.lastOfBatches(out))
	}
	table(fmt.Sprintf("`attention train --preset nano-char --text tinyshakespeare.txt`, %s: losses of validation, in nats", name))
	row("the whole text", whole, nats)
	row("20 random batches, as nanoGPT's", batches, nats)
}

// lastOfBatches returns the last validation loss of a run over some batches.
func (c claims) lastOfBatches(run string) (loss float64) {
	f, err := os.Open(filepath.Join(c.dir, run, "metrics.jsonl"))
	check(err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line struct {
			Loss    float64 `json:"validation_loss"`
			Batches int
		}
		check(json.Unmarshal(lines.Bytes(), &line))
		if line.Batches > 0 {
			loss = line.Loss
		}
	}
	return loss
}
