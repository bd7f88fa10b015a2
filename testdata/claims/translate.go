package main

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// translate trains the model that writes dates.
func (c claims) translate() {
	var exact []float64
	for seed := 1; seed <= seeds; seed++ {
		out := fmt.Sprint("dates", seed)
		c.run("translate", "--seed", strconv.Itoa(seed), "--out", out)
		var r struct {
			Exact float64 `json:"exact_match"`
		}
		c.report(filepath.Join(out, "report.json"), &r)
		exact = append(exact, r.Exact)
	}
	table("`attention translate`: held-out dates that are right to the last character")
	row("of 2000", exact, percent)
}
