/*
 * Measure the duration of a call: latency MODULE:FUNCTION WIDTH CALLS
 *
 * Calls a model repeatedly with one row of WIDTH float32 zeros, on one connection to
 * the daemon in MODSER_HOST. Prints the median, the 99th percentile and the rate.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "client/modser.h"

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Print the error of @result, one line with the cause and one with the solution, and
 * free it. */
static int complain(modser_result *result)
{
	const modser_error *e = modser_result_error(result);

	(void)fprintf(stderr, "latency: %s: %s\n%s\n", e->name, e->message, e->hint);
	modser_result_free(result);
	return 1;
}

static int measure(modser_client *client, const char *function, int64_t width,
		   double *took_us, size_t calls)
{
	const int64_t shape[2] = {1, width};
	float *row = calloc((size_t)width, sizeof(*row));
	modser_dtype dtype;
	modser_result *result;

	if (row == NULL || !modser_dtype_parse("float32", &dtype)) {
		free(row);
		return 1;
	}
	modser_value x = modser_tensor_arg(dtype, shape, 2, row);
	for (size_t i = 0; i < calls; i++) {
		double start = now_us();
		if (modser_call(client, function, &x, 1, NULL, &result) != MODSER_OK) {
			free(row);
			return complain(result);
		}
		took_us[i] = now_us() - start;
		modser_result_free(result);
	}
	free(row);
	return 0;
}

static void report(double *took_us, size_t calls)
{
	double sum = 0;

	for (size_t i = 0; i < calls; i++)
		sum += took_us[i];
	qsort(took_us, calls, sizeof(*took_us), by_size);
	printf("latency: median %.1f us, 99%% within %.1f us; %.0f calls a second\n",
	       took_us[calls / 2], took_us[calls - 1 - calls / 100],
	       (double)calls / sum * 1e6);
}

int main(int argc, char **argv)
{
	long width = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
	long calls = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	modser_client *client;
	modser_result *why;

	if (width < 1 || calls < 1) {
		(void)fputs("usage: latency MODULE:FUNCTION WIDTH CALLS\n", stderr);
		return 2;
	}
	double *took_us = calloc((size_t)calls, sizeof(*took_us));
	if (took_us == NULL)
		return 1;
	int status;
	if (modser_open(NULL, 5000, &client, &why) != MODSER_OK) {
		status = complain(why);
	} else {
		status = measure(client, argv[1], width, took_us, (size_t)calls);
		modser_close(client);
		if (status == 0)
			report(took_us, (size_t)calls);
	}
	free(took_us);
	return status;
}
