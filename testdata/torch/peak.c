/* Measures the most float32 operations a second that cores do, for the shares in the tables of bench_compare.py:

	gcc -O3 -march=native -pthread -o peak peak.c && ./peak THREADS MILLISECONDS

Each thread runs a loop of independent multiply-adds, of two operations each, that touches no memory. The time goes in
slices of some 100 µs, of which each thread's fastest counts; the program prints the sum over the threads. attention
bench has a loop of its own: the higher of the two is the peak. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* As many sums as hide a multiply-add's latency and leave registers for its operands. */
#if defined __AVX512F__
enum { BYTES = 64, SUMS = 24 };
#elif defined __AVX__
enum { BYTES = 32, SUMS = 12 };
#else
enum { BYTES = 16, SUMS = 12 };
#endif
enum { TURNS = 8192, MOST = 1024 };

typedef float vector __attribute__((vector_size(BYTES)));

static double milliseconds;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void slice(vector sums[SUMS], vector x, vector y) {
	vector s[SUMS];
	for (int i = 0; i < SUMS; i++)
		s[i] = sums[i];
	for (int turn = 0; turn < TURNS; turn++) {
#pragma GCC unroll 24
		for (int i = 0; i < SUMS; i++)
			s[i] = s[i] * x + y;
		__asm__ volatile("" ::: ); /* turns are not merged */
	}
	for (int i = 0; i < SUMS; i++)
		sums[i] = s[i];
}

static void *measure(void *result) {
	vector sums[SUMS] = {0}, zero = {0}, x = zero + 0.5f, y = zero + 1;
	double best = 0, begin = now();
	do {
		double start = now();
		slice(sums, x, y);
		double rate = 2.0 * TURNS * SUMS * (BYTES / sizeof(float)) / (now() - start);
		if (rate > best)
			best = rate;
	} while (now() - begin < milliseconds / 1000);
	volatile float used = 0;
	for (int i = 0; i < SUMS; i++)
		used += sums[i][0];
	*(double *)result = best;
	return NULL;
}

int main(int count, char **args) {
	int threads = count == 3 ? atoi(args[1]) : 0;
	milliseconds = count == 3 ? atof(args[2]) : 0;
	if (threads < 1 || threads > MOST || milliseconds <= 0) {
		fprintf(stderr, "peak: want THREADS from 1 to %d, and MILLISECONDS\n", MOST);
		return 2;
	}
	pthread_t ids[MOST];
	double rates[MOST], sum = 0;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, measure, &rates[i]) != 0) {
			fprintf(stderr, "peak: no thread\n");
			return 1;
		}
	for (int i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		sum += rates[i];
	}
	printf("%.0f\n", sum);
	return 0;
}
