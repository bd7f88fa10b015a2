package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// spread returns the mean of values and their standard deviation.
func spread(values []float64, format func(float64) string) string {
	mean, square := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		square += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return format(mean) + " ± " + format(math.Sqrt(square))
}

// row prints a line of a table.
func row(what string, values []float64, format func(float64) string) {
	fmt.Printf("| %s | %s |", what, spread(values, format))
	for _, v := range values {
		fmt.Printf(" %s |", format(v))
	}
	fmt.Println()
}

func table(title string) {
	fmt.Printf("\n%s\n\n| | mean |%s\n|---|---:|%s\n", title, strings.Repeat(" |", seeds), strings.Repeat("---:|", seeds))
}

// timings are the seconds and the losses of trainings of some kinds, each with some seeds.
type timings struct{ seconds, losses [][]float64 }

// inTurns trains n kinds with seeds from 1 on, in turns.
func inTurns(seeds, n int, train func(kind, seed int) (seconds, loss float64)) timings {
	all := timings{make([][]float64, n), make([][]float64, n)}
	for seed := 1; seed <= seeds; seed++ {
		for i := range n {
			seconds, loss := train(i, seed)
			all.seconds[i], all.losses[i] = append(all.seconds[i], seconds), append(all.losses[i], loss)
		}
	}
	return all
}

// summary prints a line of a table of a kind's mean loss and mean seconds.
func (t timings) summary(i int, name string) {
	fmt.Printf("| %s | %s | %s |\n", name, spread(t.losses[i], nats), spread(t.seconds[i], tenths))
}

func nats(v float64) string       { return strconv.FormatFloat(v, 'f', 4, 64) }
func tenths(v float64) string     { return strconv.FormatFloat(v, 'f', 1, 64) }
func hundredths(v float64) string { return tenths(100 * v) }
func percent(v float64) string    { return strconv.FormatFloat(100*v, 'f', 2, 64) + " %" }
