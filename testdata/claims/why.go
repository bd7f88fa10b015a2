package main

import (
	"fmt"
	"slices"
	"strconv"
)

// why trains the models with and without attention.
func (c claims) why() {
	c.run("why", "--seeds", strconv.Itoa(seeds), "--out", "why")
	var r struct {
		Reverse struct {
			Lengths []int
			Models  []struct {
				Name  string
				Exact [][]float64
			}
		}
		Picture struct {
			Models []struct {
				Name                    string
				Digits, Arrows, Colours []float64
			}
		}
	}
	c.report("why/report.json", &r)
	table("`attention why --task reverse`: strings that come back right to the last letter")
	for _, m := range r.Reverse.Models {
		for _, length := range []int{5, 10, 15, 20, 30, 40} {
			at := slices.Index(r.Reverse.Lengths, length)
			var exact []float64
			for _, shares := range m.Exact {
				exact = append(exact, shares[at])
			}
			row(fmt.Sprintf("%s, %d letters", m.Name, length), exact, percent)
		}
	}
	table("`attention why --task picture`: right answers")
	for _, m := range r.Picture.Models {
		row(m.Name+", digits", m.Digits, percent)
		row(m.Name+", arrows", m.Arrows, percent)
		row(m.Name+", colours", m.Colours, percent)
	}
}
