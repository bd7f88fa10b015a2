//go:build (amd64 || arm64) && !noasm

package simd

import "unsafe"

// single and double return the address of a slice for assembly.
func single[F Float](x []F) *float32 { return (*float32)(unsafe.Pointer(unsafe.SliceData(x))) }
func double[F Float](x []F) *float64 { return (*float64)(unsafe.Pointer(unsafe.SliceData(x))) }

// reaches panics if a slice is shorter than the part that assembly accesses, because assembly has no bounds checks.
func reaches(name string, length, reach int) {
	if uint(reach) > uint(length) {
		panic("simd: " + name + ": slice is too short")
	}
}

// padded returns n rounded up to whole vectors.
func padded[F Float](n int) int {
	_, lanes := TileShape[F]()
	return (n + lanes - 1) / lanes * lanes
}

// tileReach returns the number of elements that tile accesses for the m rows of A in one column.
func tileReach[F Float](m, aRow, aPanel int) int {
	rows, _ := TileShape[F]()
	panels, last := (m-1)/rows, (m-1)%rows
	reach := panels*aPanel + last*aRow
	if panels > 0 {
		reach = max(reach, (panels-1)*aPanel+(rows-1)*aRow)
	}
	return reach
}
