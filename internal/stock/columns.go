package stock

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
)

// A lattice describes how a kernel moves over images: at each position it covers some elements of each channel.
type lattice struct {
	kernel, pad, stride, dilation [2]int // height and width
	image, places                 [2]int
	batch, channels               int
}

// A window is the part of an image that a kernel covers at one place of an axis: the kernel's elements from low to
// high are the image's from at on, in steps of the dilation.
type window struct{ low, high, at int }

// window returns the window of an axis, 0 for the height and 1 for the width, at a place.
func (l *lattice) window(axis, place int) window {
	first, d := place*l.stride[axis]-l.pad[axis], l.dilation[axis]
	low := max(0, (d-1-first)/d)
	high := min(l.kernel[axis], (l.image[axis]-first+d-1)/d)
	return window{low, max(low, high), first + low*d}
}

// latticeOf returns the lattice between images (B, channels, height, width) and columns
// (B, places, places, channels·kernel).
func latticeOf(op G.Op, images, columns *G.Node) (l *lattice, ok bool) {
	s, ok := settings(op, "h", "w", "padH", "padW", "strideH", "strideW", "dilationH", "dilationW")
	image, cols := images.Shape(), columns.Shape()
	if !ok || len(image) != 4 || len(cols) != 4 {
		return nil, false
	}
	l = &lattice{
		kernel: [2]int(s), pad: [2]int(s[2:]), stride: [2]int(s[4:]), dilation: [2]int(s[6:]),
		image: [2]int(image[2:]), places: [2]int(cols[1:]),
		batch: image[0], channels: image[1],
	}
	some := min(image.TotalSize(), cols.TotalSize()) > 0
	return l, some && l.batch == cols[0] && l.column() == cols[3]
}

// column returns the number of elements at a place.
func (l *lattice) column() int { return l.channels * l.kernel[0] * l.kernel[1] }

// imagesToColumns returns the op that copies the elements under the kernel at each place.
func imagesToColumns[F kernel.Float](c call) *Op {
	l, ok := latticeOf(c.node.Op(), c.in[0], c.node)
	if !ok {
		return nil
	}
	wide := l.places[1] * l.column()
	return loops(nil, l.batch*l.places[0], 1+loopGrain/wide, func(columns []F, images [][]F, lo, hi int) {
		long := len(images[0]) / l.batch
		for row := lo; row < hi; row++ { // of places, in all images
			image := images[0][row/l.places[0]*long:][:long]
			copyWindows(l, columns[row*wide:][:wide], image, row%l.places[0])
		}
	})
}

// copyWindows copies the elements under the kernel for row y of its places in an image. Elements outside the image are
// zeros.
func copyWindows[F kernel.Float](l *lattice, to, image []F, y int) {
	clear(to)
	rows, plane := l.window(0, y), l.image[0]*l.image[1]
	for x := range l.places[1] {
		cols := l.window(1, x)
		for channel := range l.channels {
			for k := rows.low; k < rows.high && cols.low < cols.high; k++ {
				from := image[channel*plane+(rows.at+(k-rows.low)*l.dilation[0])*l.image[1]+cols.at:]
				at := ((x*l.channels+channel)*l.kernel[0] + k) * l.kernel[1]
				to := to[at+cols.low : at+cols.high]
				for i := range to {
					to[i] = from[i*l.dilation[1]]
				}
			}
		}
	}
}

// columnsToImages returns the gradient of imagesToColumns: each element's sum over the places that cover it.
func columnsToImages[F kernel.Float](c call) *Op {
	l, ok := latticeOf(c.node.Op(), c.node, c.in[0])
	if !ok {
		return nil
	}
	plane := l.image[0] * l.image[1]
	grain := 1 + loopGrain/(l.places[0]*l.places[1]*l.kernel[0]*l.kernel[1])
	return loops(nil, l.batch*l.channels, grain, func(images []F, columns [][]F, lo, hi int) {
		long := len(columns[0]) / l.batch
		for i := lo; i < hi; i++ { // planes: channels of all images
			addWindows(l, images[i*plane:][:plane], columns[0][i/l.channels*long:][:long], i%l.channels)
		}
	})
}

// addWindows sums a channel of an image from what the kernel covered.
func addWindows[F kernel.Float](l *lattice, plane, columns []F, channel int) {
	clear(plane)
	for y := range l.places[0] {
		rows := l.window(0, y)
		for x := range l.places[1] {
			cols := l.window(1, x)
			place := (y*l.places[1]+x)*l.column() + channel*l.kernel[0]*l.kernel[1]
			for k := rows.low; k < rows.high && cols.low < cols.high; k++ {
				to := plane[(rows.at+(k-rows.low)*l.dilation[0])*l.image[1]+cols.at:]
				for i, v := range columns[place+k*l.kernel[1]:][cols.low:cols.high] {
					to[i*l.dilation[1]] += v
				}
			}
		}
	}
}
