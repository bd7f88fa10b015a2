package mask

import "sync"

// A tile is a block of queries and keys, for which a function of positions is called once for all batches and heads.
const (
	tileQueries = 32
	tileKeys    = 128
)

// maxTiles is the largest number of tiles that are stored.
const maxTiles = 1 << 22

// funcTiles stores how much of each tile a function shows, computed when it is first needed.
type funcTiles struct {
	numberedFunc
	first      []int // position of the first query of each batch, or of all
	T, S       int
	rows, cols int // of tiles
	tiles      []funcTile
}

type funcTile struct {
	once  sync.Once
	sight Sight
}

// classify makes the set of a function of positions store how much each tile shows.
func (m numberedFunc) classify(k *KeySet, s Scores, first []int) {
	f := &funcTiles{numberedFunc: m, first: first, T: s.T, S: s.S,
		rows: (s.T + tileQueries - 1) / tileQueries, cols: (s.S + tileKeys - 1) / tileKeys}
	if f.cols > maxTiles/f.rows/len(first) {
		return
	}
	f.tiles = make([]funcTile, len(first)*f.rows*f.cols)
	k.glance, k.Fill = f.glance, f.fill
}

// glance combines the results of the tiles that contain the keys.
func (f *funcTiles) glance(b, t, s0, n int) Sight {
	sight := f.of(b, t, s0/tileKeys)
	for col := s0/tileKeys + 1; col <= (s0+n-1)/tileKeys && sight != SeesSome; col++ {
		if f.of(b, t, col) != sight {
			return SeesSome
		}
	}
	return sight
}

// fill calls the function only for tiles that are shown in part.
func (f *funcTiles) fill(b, h, t, s0 int, shown []bool) {
	for len(shown) > 0 {
		col := s0 / tileKeys
		n := min(len(shown), (col+1)*tileKeys-s0)
		switch f.of(b, t, col) {
		case SeesNone:
			clear(shown[:n])
		case SeesAll:
			setRange(0, n, 0, shown)
		default:
			f.numberedFunc.fill(b, h, f.first[b%len(f.first)]+t, s0, shown[:n])
		}
		s0, shown = s0+n, shown[n:]
	}
}

// of returns how much query t sees of a column of tiles.
func (f *funcTiles) of(b, t, col int) Sight {
	start, row := b%len(f.first), t/tileQueries
	tile := &f.tiles[(start*f.rows+row)*f.cols+col]
	tile.once.Do(func() { tile.sight = f.look(f.first[start], row, col) })
	return tile.sight
}

// look calls the function for the pairs of a tile until two results differ.
func (f *funcTiles) look(first, row, col int) Sight {
	var line [tileKeys]bool
	s0 := col * tileKeys
	keys := min(tileKeys, f.S-s0)
	none, all := true, true
	for t := row * tileQueries; t < min((row+1)*tileQueries, f.T); t++ {
		f.numberedFunc.fill(0, 0, first+t, s0, line[:keys])
		for _, sees := range line[:keys] {
			none, all = none && !sees, all && sees
		}
		if !none && !all {
			return SeesSome
		}
	}
	if none {
		return SeesNone
	}
	return SeesAll
}
