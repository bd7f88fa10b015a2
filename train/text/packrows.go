package text

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// arrange packs the examples of the epoch into rows: the longest first, each into the row with the least room that
// has enough. The number of the epoch and the seed alone give the rows.
func (p *Packed) arrange() {
	var order []int32
	for i, n := range p.lengths {
		if n > 0 {
			order = append(order, int32(i))
		}
	}
	random := rand.New(rand.NewPCG(p.config.Seed, p.epoch))
	shuffle := func(n int, swap func(i, j int)) {
		if p.config.Shuffle {
			random.Shuffle(n, swap)
		}
	}
	shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(p.lengths[b], p.lengths[a]) })
	if p.rows = nil; p.config.Alone {
		for _, i := range order {
			p.rows = append(p.rows, []int32{i})
		}
	} else {
		p.rows = packRows(order, p.lengths, p.config.Context)
	}
	shuffle(len(p.rows), func(i, j int) { p.rows[i], p.rows[j] = p.rows[j], p.rows[i] })
}

// packRows puts examples, the longest first, into as few rows of a length as it can.
func packRows(order, lengths []int32, length int) (rows [][]int32) {
	withRoom := make([][]int, length+1) // rows by the room that is left in them
	most := 0                           // the most room in any row
	for _, i := range order {
		n := int(lengths[i])
		room := n
		for room <= most && len(withRoom[room]) == 0 {
			room++
		}
		row := len(rows)
		if room <= most {
			last := len(withRoom[room]) - 1
			row, withRoom[room] = withRoom[room][last], withRoom[room][:last]
		} else {
			rows, room = append(rows, nil), length
		}
		rows[row] = append(rows[row], i)
		withRoom[room-n] = append(withRoom[room-n], row)
		most = max(most, room-n)
	}
	return rows
}
