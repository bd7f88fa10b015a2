package stock

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
)

// pooling returns the lattice of a pooling op from images to their pooled ones, both
// (B, channels, height, width). Kernels that cover nothing but padding are Gorgonia's to judge.
func pooling(op G.Op, images, pooled *G.Node) (l *lattice, ok bool) {
	s, ok := settings(op, "h", "w", "padNorth", "padWest", "padSouth", "padEast", "strideH", "strideW")
	image, small := images.Shape(), pooled.Shape()
	if !ok || len(image) != 4 || len(small) != 4 || min(image.TotalSize(), small.TotalSize()) == 0 {
		return nil, false
	}
	l = &lattice{
		kernel: [2]int(s), pad: [2]int(s[2:]), stride: [2]int(s[6:]), dilation: [2]int{1, 1},
		image: [2]int(image[2:]), places: [2]int(small[2:]),
		batch: image[0], channels: image[1],
	}
	symmetric := s[2] == s[4] && s[3] == s[5]
	return l, symmetric && l.pad[0] < l.kernel[0] && l.pad[1] < l.kernel[1]
}

// maxPool returns the op of the largest element that the kernel covers at each place, NaN where one is, as in torch.
func maxPool[F kernel.Float](c call) *Op {
	l, ok := pooling(c.node.Op(), c.in[0], c.node)
	if !ok {
		return nil
	}
	var pooled, images []F
	plane, places := l.image[0]*l.image[1], l.places[0]*l.places[1]
	part := func(lo, hi int) {
		for i := lo; i < hi; i++ { // planes: channels of all images
			image, small := images[i*plane:][:plane], pooled[i*places:][:places]
			for place := range small {
				small[place] = image[largest(l, image, place)]
			}
		}
	}
	return computes(Loop, nil, func(out G.Value, in []G.Value) {
		pooled, images = floats[F](out), floats[F](in[0])
		kernel.Parallel(l.batch*l.channels, 1+loopGrain/(places*l.kernel[0]*l.kernel[1]), part)
	})
}

// maxPoolGradient returns the op of the gradient for the images, from the images, what was pooled and its gradient.
func maxPoolGradient[F kernel.Float](c call) *Op {
	l, ok := pooling(c.node.Op(), c.in[0], c.in[1])
	if !ok {
		return nil
	}
	var gradient, images, up []F
	plane, places := l.image[0]*l.image[1], l.places[0]*l.places[1]
	part := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			image, to := images[i*plane:][:plane], gradient[i*plane:][:plane]
			clear(to)
			for place, v := range up[i*places:][:places] {
				to[largest(l, image, place)] += v
			}
		}
	}
	return computes(Loop, nil, func(out G.Value, in []G.Value) {
		gradient, images, up = floats[F](out), floats[F](in[0]), floats[F](in[2])
		kernel.Parallel(l.batch*l.channels, 1+loopGrain/(places*l.kernel[0]*l.kernel[1]), part)
	})
}

// largest returns where the first of the largest elements that the kernel covers at a place is: the first NaN, if
// there is one.
func largest[F kernel.Float](l *lattice, image []F, place int) int {
	rows, cols := l.window(0, place/l.places[1]), l.window(1, place%l.places[1])
	best := rows.at*l.image[1] + cols.at
	for y := range rows.high - rows.low {
		from := (rows.at+y)*l.image[1] + cols.at
		for i, v := range image[from:][:cols.high-cols.low] {
			if top := image[best]; v > top || v != v && top == top {
				best = from + i
			}
		}
	}
	return best
}
