/* Times functions of OpenBLAS for BenchmarkAgainstOthers:

	cc -O2 -o openblas openblas.c -lopenblas

With the argument "cpu", the processor's time counts. It reads lines "gemm NT m n k", "trsm N m n 0" or "syrk N n k 0" (T for transposed, float32, row-major,
smallest leading dimensions) and answers each with the seconds of one run: the least of several turns of some
milliseconds. Its first line is the name of the kernels that OpenBLAS has chosen. */

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char *openblas_get_corename(void);

static int own_clock = CLOCK_MONOTONIC;

static double now(void) {
	struct timespec t;
	clock_gettime(own_clock, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static float *numbers(long n) {
	float *x = malloc(n * sizeof *x);
	for (long i = 0; i < n; i++)
		x[i] = (float)(i % 7 - 3) / 1024;
	return x;
}

int main(int count, char **args) {
	if (count > 1 && !strcmp(args[1], "cpu"))
		own_clock = CLOCK_PROCESS_CPUTIME_ID;
	char name[8], way[4];
	int m, n, k;
	printf("%s\n", openblas_get_corename());
	fflush(stdout);
	while (scanf("%7s %3s %d %d %d", name, way, &m, &n, &k) == 5) {
		int tA = way[0] == 'T' ? CblasTrans : CblasNoTrans, tB = way[1] == 'T' ? CblasTrans : CblasNoTrans;
		long inner = k ? k : 1, most = m > n ? m : n;
		float *a = numbers(most * (inner > most ? inner : most));
		float *b = numbers(most * (inner > most ? inner : most));
		float *c = numbers(most * most);
		if (!strcmp(name, "trsm"))
			for (long i = 0; i < m; i++)
				a[i * m + i] = 1;
		double best = 1e9;
		for (int turn = 0, times = 1; turn < 6;) {
			double start = now();
			for (int i = 0; i < times; i++) {
				if (!strcmp(name, "gemm"))
					cblas_sgemm(CblasRowMajor, tA, tB, m, n, k, 1, a, tA == CblasTrans ? m : k,
						b, tB == CblasTrans ? k : n, 0, c, n);
				else if (!strcmp(name, "trsm"))
					cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, tA, CblasNonUnit, m, n, 1, a, m, b, n);
				else
					cblas_ssyrk(CblasRowMajor, CblasLower, tA, m, n, 1, a, tA == CblasTrans ? m : n, 0, c, m);
			}
			double took = now() - start;
			if (took < 3e-3 && times < 1 << 20) {
				times *= 2;
				continue;
			}
			if (took / times < best)
				best = took / times;
			turn++;
		}
		printf("%.9g\n", best);
		fflush(stdout);
		free(a);
		free(b);
		free(c);
	}
	return 0;
}
