package stock

import (
	"reflect"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
)

// pooling holds the windows that a pooling kernel covers in images (B, channels, height, width), for each element of
// the result.
type pooling struct {
	rows, cols    []window // of a row of places, and of a column
	width         int      // of an image
	plane, places int      // elements of a channel, before and after
	planes        int
}

// poolingOf reads an op from images to their pooled ones. Kernels that cover only padding are left to Gorgonia.
func poolingOf(op G.Op, images, pooled *G.Node) (p *pooling, ok bool) {
	s, ok := settings(op, "h", "w", "padNorth", "padWest", "padSouth", "padEast", "strideH", "strideW")
	image, small := images.Shape(), pooled.Shape()
	if !ok || len(image) != 4 || len(small) != 4 || min(image.TotalSize(), small.TotalSize()) == 0 {
		return nil, false
	}
	kernel, first, last, stride := [2]int(s), [2]int(s[2:]), [2]int(s[4:]), [2]int(s[6:])
	if max(first[0], last[0]) >= kernel[0] || max(first[1], last[1]) >= kernel[1] {
		return nil, false
	}
	explicit := reflect.Indirect(reflect.ValueOf(op)).FieldByName("explicitPadding")
	if explicit.Kind() != reflect.Bool {
		return nil, false
	}
	if explicit.Bool() {
		first = last // Gorgonia puts the padding of the south and the east first
	}
	l := &lattice{kernel: kernel, pad: first, stride: stride, dilation: [2]int{1, 1}, image: [2]int(image[2:])}
	p = &pooling{
		width: image[3], plane: image[2] * image[3], places: small[2] * small[3], planes: image[0] * image[1],
	}
	for y := range small[2] {
		p.rows = append(p.rows, l.window(0, y))
	}
	for x := range small[3] {
		p.cols = append(p.cols, l.window(1, x))
	}
	return p, image[0] == small[0] && image[1] == small[1]
}

// grain returns the number of planes worth a goroutine.
func (p *pooling) grain() int {
	covered := (p.rows[0].high - p.rows[0].low) * (p.cols[0].high - p.cols[0].low)
	return 1 + loopGrain/(p.places*covered)
}

// maxPool returns the op of the largest element that the kernel covers at each place, NaN where one is, as in torch.
func maxPool[F kernel.Float](c call) *Op {
	p, ok := poolingOf(c.node.Op(), c.in[0], c.node)
	if !ok {
		return nil
	}
	return loops(nil, p.planes, p.grain(), func(pooled []F, images [][]F, lo, hi int) {
		for i := lo; i < hi; i++ { // planes: channels of all images
			image, small := images[0][i*p.plane:][:p.plane], pooled[i*p.places:][:p.places]
			for _, row := range p.rows {
				for x, col := range p.cols {
					small[x] = top(image, p.width, row, col)
				}
				small = small[len(p.cols):]
			}
		}
	})
}

// maxPoolGradient returns the op of the gradient for the images, computed from the images, the pooled images and their
// gradient.
func maxPoolGradient[F kernel.Float](c call) *Op {
	p, ok := poolingOf(c.node.Op(), c.in[0], c.in[1])
	if !ok {
		return nil
	}
	return loops(nil, p.planes, p.grain(), func(gradient []F, in [][]F, lo, hi int) {
		images, up := in[0], in[2]
		for i := lo; i < hi; i++ {
			image, to := images[i*p.plane:][:p.plane], gradient[i*p.plane:][:p.plane]
			clear(to)
			from := up[i*p.places:][:p.places]
			for _, row := range p.rows {
				for x, col := range p.cols {
					to[largest(image, p.width, row, col)] += from[x]
				}
				from = from[len(p.cols):]
			}
		}
	})
}

// top returns the largest element in a window of an image. It avoids branches that the processor mispredicts. The
// largest of 0 and −0 is the first one.
func top[F kernel.Float](image []F, width int, row, col window) F {
	line := row.at*width + col.at
	top := image[line]
	for range row.high - row.low {
		for _, v := range image[line:][:col.high-col.low] {
			top = max(top, v)
		}
		line += width
	}
	if top == 0 {
		return image[largest(image, width, row, col)]
	}
	return top
}

// largest returns the index of the first of the largest elements in a window of an image, or of the first NaN if there
// is one.
func largest[F kernel.Float](image []F, width int, row, col window) int {
	line := row.at*width + col.at
	best, top := line, image[line]
	for range row.high - row.low {
		for i, v := range image[line:][:col.high-col.low] {
			if v > top || v != v && top == top {
				best, top = line+i, v
			}
		}
		line += width
	}
	return best
}
