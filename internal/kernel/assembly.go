//go:build (amd64 || arm64) && !noasm

package kernel

import "unsafe"

// single and double return the address of a slice for assembly.
func single[F Float](x []F) *float32 { return (*float32)(unsafe.Pointer(unsafe.SliceData(x))) }
func double[F Float](x []F) *float64 { return (*float64)(unsafe.Pointer(unsafe.SliceData(x))) }

// reaches panics unless a slice has the elements that assembly reaches: assembly knows no bounds.
func reaches(name string, length, reach int) {
	if uint(reach) > uint(length) {
		panic("kernel: " + name + ": slice is too short")
	}
}

// padded returns n rounded up to whole vectors.
func padded[F Float](p path, n int) int {
	_, lanes := tileShape[F](p)
	return (n + lanes - 1) / lanes * lanes
}

// tileReach returns how far tile reaches for the m rows of A in one column.
func tileReach[F Float](p path, m, aRow, aPanel int) int {
	rows, _ := tileShape[F](p)
	panels, last := (m-1)/rows, (m-1)%rows
	reach := panels*aPanel + last*aRow
	if panels > 0 {
		reach = max(reach, (panels-1)*aPanel+(rows-1)*aRow)
	}
	return reach
}
