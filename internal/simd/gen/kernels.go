package main

// Each entry is a kernel; see the type for what its fields mean.

const (
	scoreTile = "[(rows-1)*ld+padded[F](n)]F"
	scoreLine = "[padded[F](n)]F"
)

var gemmKernels = []kernel{
	{
		name: "tile",
		does: "computes C ← α·A·B + β·C for at most two vectors of columns n. Strides count elements. A is read\n" +
			"through two strides, one of them 1. Groups of rows as tall as the tile have the stride aPanel. B is read\n" +
			"in whole vectors.",
		params: "m, n, k size; alpha F; a [tileReach[F](m, aRow, aPanel)+(k-1)*aCol+1]F; " +
			"aRow, aCol, aPanel stride; b [(k-1)*bRow+padded[F](n)]F; bRow stride; " +
			"beta F; c [(m-1)*cRow+n]F; cRow stride",
		plain: "n > TileWidth[F]() || m > 1 && aRow != 1 && aCol != 1",
		write: (*generator).tile,
		neon:  &own{plain: "n > TileWidth[F]()", write: (*generator).tileNEON},
	},
	{
		name:   "dot",
		does:   "sets y[i] ← Σ a[i·aRow+q]·x[q] for every i of y and q of x.",
		params: "a [(m-1)*aRow+k]F; aRow stride; x [k]F; y [m]F",
		write:  (*generator).dot,
	},
	{
		name:   "rowDots",
		does:   "sets y[i] ← Σ a[i·aRow+q]·x[i·xRow+q] for every i of y and q < k.",
		params: "k size; a [(m-1)*aRow+k]F; aRow stride; x [(m-1)*xRow+k]F; xRow stride; y [m]F",
		write:  (*generator).rowDots,
	},
	{
		name:   "weigh",
		does:   "adds Σ α·x[i]·a[i·aRow+j] over the rows i to y[j], one row after the other.",
		params: "alpha F; a [(m-1)*aRow+n]F; aRow stride; x [m]F; y [n]F",
		write:  (*generator).weigh,
	},
	{
		name: "copyPanel",
		does: "sets dst[q·dstRow+j] ← src[q·srcRow+j] for q < k and j < n, where n is at most two vectors. The\n" +
			"elements behind a row, up to whole vectors, become 0 before the next row is written.",
		params: "k, n size; src [(k-1)*srcRow+n]F; srcRow stride; dst [(k-1)*dstRow+padded[F](n)]F; dstRow stride",
		plain:  "n > TileWidth[F]()",
		write:  (*generator).copyPanel,
		neon:   &own{write: (*generator).copyPanelNEON},
	},
	{
		name:   "prefetch",
		does:   "prefetches n elements of each of k rows.",
		params: "k, n size; b [(k-1)*bRow+n]F; bRow stride",
		write:  (*generator).prefetchRows,
	},
	{
		name: "transposePanel",
		does: "sets dst[q·dstRow+j] ← src[j·srcRow+q] for q < k and j < n. Assembly turns four rows at a time, and\n" +
			"a vector of each.",
		params: "k, n size; src [(n-1)*srcRow+k]F; srcRow stride; dst [(k-1)*dstRow+n]F; dstRow stride",
		plain:  "n < 4 || k < 32/SizeOf[F]()",
		only:   "AVX2",
		write:  (*generator).transposePanel,
		neon:   &own{plain: "n < 4 || k < 32/SizeOf[F]()", write: (*generator).transposePanelNEON},
	},
	{
		name:   "fmaLoop",
		does:   "does two tiles' worth of independent multiply-adds n times over.",
		params: "n size",
		write:  (*generator).fmaLoop,
	},
	{
		name: "dotStored",
		does: "is dot of a matrix a in bfloat16, with the bits of widening a first. x is a result of evenFirst.\n" +
			"Whole steps of two vectors fill k.",
		params: "a [(m-1)*aRow+k]uint16; aRow stride; x [k]F; y [m]F",
		plain:  "k%TileWidth[F]() != 0",
		only:   "float32",
		write:  (*generator).dotStored,
	},
	{
		name:   "weighStored",
		does:   "is weigh of a that is stored as bfloat16. In assembly whole vectors fill y.",
		params: "alpha F; a [(m-1)*aRow+n]uint16; aRow stride; x [m]F; y [n]F",
		plain:  "n*2%TileWidth[F]() != 0",
		only:   "float32",
		write:  (*generator).weighStored,
	},
	{
		name:   "widenVectors",
		does:   "sets y ← x, k rows of n numbers that are stored as bfloat16. In assembly n is whole vectors.",
		params: "k, n size; y [(k-1)*yRow+n]F; yRow stride; x [(k-1)*xRow+n]uint16; xRow stride",
		plain:  "n*2%TileWidth[F]() != 0",
		only:   "float32",
		write:  (*generator).widenVectors,
	},
}

// The steps between the products of a tile of attention scores. Assembly handles whole vectors: a tile has room for
// them, and elements behind its columns are never used.
var attentionKernels = []kernel{
	{
		name:   "maxColumns",
		does:   "writes the maximum of each of n columns to top. A NaN may get lost.",
		params: "rows, n size; x " + scoreTile + "; ld stride; top " + scoreLine,
		write:  (*generator).maxColumns,
	},
	{
		name:   "expColumns",
		does:   "sets x ← exp(x − shift), with one shift for each of n columns, and adds each column to sum.",
		params: "rows, n size; x " + scoreTile + "; ld stride; shift, sum " + scoreLine,
		write:  (*generator).expColumns,
	},
	{
		name: "momentColumns",
		does: "sets x ← exp(x − shift), with one shift for each of n columns, and adds each column to sum and\n" +
			"exp(x − shift)·(x − shift) to moment. −∞ adds 0 to both.",
		params: "rows, n size; x " + scoreTile + "; ld stride; shift, sum, moment " + scoreLine,
		write:  (*generator).momentColumns,
	},
	{
		name:   "hideColumns",
		does:   "sets to −∞ the elements outside the rows lo ≤ row < hi of each of n columns.",
		params: "rows, n size; x " + scoreTile + "; ld stride; lo, hi " + scoreLine,
		write:  (*generator).hideColumns,
	},
	{
		name:   "clearRows",
		does:   "sets to 0 the elements outside the columns lo ≤ column < hi of each row; columns holds 0, 1, 2, …",
		params: "rows, n size; x " + scoreTile + "; ld stride; columns " + scoreLine + "; lo, hi [rows]F",
		write:  (*generator).clearRows,
	},
	{
		name:   "gradientRows",
		does:   "sets x ← factor·exp(x − shift) and dx ← x·(dx − delta − low), with one of each for each row.",
		params: "rows, n size; x, dx " + scoreTile + "; ld stride; shift, factor, delta, low [rows]F",
		write:  (*generator).gradientRows,
	},
	{
		name:   "capRows",
		does:   "sets x ← c·tanh(x/c), and slope, unless it is nil, to 1/cosh²(x/c).",
		params: "rows, n size; x " + scoreTile + "; ld stride; slope ?" + scoreTile + "; c F",
		write:  (*generator).capRows,
	},
	{
		name: "dropRows",
		does: "multiplies x by scale, or subtracts it from itself where\n" +
			"mix(start + row·rowStep + column·columnStep) < below.",
		params: "rows, n size; x " + scoreTile + "; ld stride; start, columnStep, rowStep, below uint64; " +
			"scale F",
		plain: "!multipliesQuads",
		only:  "AVX512",
		write: (*generator).dropRows,
		neon:  &own{write: (*generator).dropRowsNEON},
	},
}

// Functions of rows, as those of elements.
var rowKernels = []kernel{
	{
		name: "sumColumns",
		does: "adds n columns of the rows to y, in float64. Assembly adds to whole vectors: what lies behind the\n" +
			"columns of y is left as it was.",
		params: "rows, n size; ld stride; y [padded[F](n)]float64; x [(rows-1)*ld+n]F",
		write:  inVectors((*vector).sumColumns),
	},
	{
		name:   "softmaxRows",
		does:   "sets y ← scale·softmax(x) in each row. In rows of −∞ alone the softmax is 0·empty.",
		params: "rows, cols size; y, x [rows*cols]F; scale, empty F",
		write:  inVectors((*vector).softmaxRows),
	},
	{
		name:   "softmaxBackwardRows",
		does:   "sets dx ← y·(dy − Σ dy·y) in each row.",
		params: "rows, cols size; dx, y, dy [rows*cols]F",
		write:  inVectors((*vector).softmaxBackwardRows),
	},
	{
		name:   "topRows",
		does:   "writes each row's maximum to y, NaN if one is in it.",
		params: "rows, cols size; y [rows]F; x [rows*cols]F",
		write:  inVectors((*vector).topRows),
	},
	{
		name:   "sumExpRows",
		does:   "writes each row's maximum to top, and Σ exp(x−max) to sum. A maximum of −∞ is not subtracted.",
		params: "rows, cols size; x [rows*cols]F; top, sum [rows]F",
		write:  inVectors((*vector).sumExpRows),
	},
	{
		name: "normRows",
		does: "sets y ← (x−mean)·rstd·gamma + beta in each row, and writes mean and rstd. gamma and beta may be nil.",
		params: "rows, cols size; y [rows*cols]F; mean, rstd [rows]F; x [rows*cols]F; gamma, beta ?[cols]F; " +
			"eps F",
		write: inVectors((*vector).normRows),
	},
	{
		name: "normBackwardRows",
		does: "sets dx ← rstd·(g − mean(g) − x̂·mean(g·x̂)) in each row, with g = dy·gamma and x̂ = (x−mean)·rstd.\n" +
			"gamma may be nil.",
		params: "rows, cols size; dx, dy, x [rows*cols]F; gamma ?[cols]F; mean, rstd [rows]F",
		write:  inVectors((*vector).normBackwardRows),
	},
	{
		name:   "normColumns",
		does:   "adds Σ dy·(x−mean)·rstd over the rows to dgamma, and Σ dy to dbeta.",
		params: "rows, cols size; dgamma, dbeta [cols]F; dy, x [rows*cols]F; mean, rstd [rows]F",
		write:  inVectors((*vector).normColumns),
	},
	{
		name:   "rootRows",
		does:   "sets y ← x·factor[i]·weight in each row i.",
		params: "rows, cols size; y, x [rows*cols]F; weight [cols]F; factor [rows]F",
		write:  inVectors((*vector).rootRows),
	},
	{
		name: "rootBackwardRows",
		does: "sets dx ← factor[i]·(dy·weight − x·along[i]) in each row i, and adds dy·x·factor[i] to dweight.",
		params: "rows, cols size; dx [rows*cols]F; dweight [cols]F; dy, x [rows*cols]F; weight [cols]F; " +
			"factor, along [rows]F",
		write: inVectors((*vector).rootBackwardRows),
	},
	{
		name:   "addRows",
		does:   "sets z ← x + y in each row, where y is one row.",
		params: "rows, cols size; z, x [rows*cols]F; y [cols]F",
		write:  inVectors((*vector).addRows),
	},
	{
		name:   "addOuter",
		does:   "adds α·x[i]·y[j] to a[i·ld+j] for every i of x and j of y.",
		params: "rows, n size; ld stride; alpha F; a [(rows-1)*ld+n]F; x [rows]F; y [n]F",
		write:  inVectors((*vector).addOuter),
	},
	{
		name:   "scaleRows",
		does:   "sets y[i·ld+j] ← factor[i]·x[i·n+j] for j < n.",
		params: "rows, n size; y [(rows-1)*ld+n]F; ld stride; x [rows*n]F; factor [rows]F",
		write:  inVectors((*vector).scaleRows),
	},
	{
		name:   "turnRows",
		does:   "sets ya ← xa·cos − xb·sin and yb ← xb·cos + xa·sin in each row, each product rounded. y may be x.",
		params: "rows, n size; ld stride; ya, yb, xa, xb [(rows-1)*ld+n]F; cos, sin [n]F",
		write:  inVectors((*vector).turnRows),
	},
	{
		name:   "sumRows",
		does:   "adds n columns of the rows to y, one row after the other.",
		params: "rows, n size; ld stride; y [n]F; x [(rows-1)*ld+n]F",
		write:  inVectors((*vector).sumRows),
	},
}
