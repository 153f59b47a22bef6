/*
 * bench_graph FILE RUNS: processor time of one run of a model with one input, whose
 * extents are all known, on one thread: the median of RUNS, in microseconds. With
 * "open": the time to load it from a mapped file.
 */
#include "graph/ir/graph.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "graph/pass/pass.h"
#include "runtime/engine/engine.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/plan.h"

static double now_us(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
		abort();
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Small numbers without special values. */
static void *make_input(const modser_sg_tensor *t)
{
	uint64_t bytes = 0;

	if (!msd_sg_tensor_bytes(t, &bytes))
		abort();
	float *p = calloc((size_t)bytes + sizeof(float), 1);
	if (p == NULL)
		abort();
	for (size_t i = 0; i < (size_t)bytes / sizeof(float); i++)
		p[i] = (float)(i * 37 % 101) / 101.0f - 0.5f;
	return p;
}

static void pass(modser_graph *g)
{
	const struct msd_pass_host host = {msd_kernel_compute, msd_engine_may_make};
	struct msd_passed passed;

	if (msd_passes_run(g, host, &passed) != 0)
		abort();
}

static int measure(modser_graph *g, size_t runs)
{
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};
	double *us = calloc(runs, sizeof(*us));

	if (us == NULL || g->n_inputs != 1)
		abort();
	void *x = make_input(g->inputs[0]);
	const void *const in[] = {x};
	pass(g);
	msd_err err = msd_plan_create(g, &plan, &d);
	for (size_t i = 0; err == MSD_OK && i < runs; i++) {
		us[i] = now_us();
		err = msd_plan_run(plan, in, &d);
		us[i] = now_us() - us[i];
	}
	qsort(us, runs, sizeof(*us), by_size);
	if (err == MSD_OK) {
		(void)printf("%.1f\n", us[runs / 2]);
	} else {
		(void)fprintf(stderr, "%s\n", msd_diag_text(&d));
	}
	free(x);
	free(us);
	msd_plan_destroy(plan);
	msd_diag_finish(&d);
	return err != MSD_OK;
}

/* Load as a worker does, from a mapped file: read, check, plan. */
static int open_once(const modser_serializer *s, const modser_part *file)
{
	modser_graph *g = modser_graph_create("");
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};
	const bool is_read = modser_serializer_load_memory(s, file, 1, NULL, g) == 0;

	if (is_read)
		pass(g);
	const bool is_open = is_read && msd_plan_create(g, &plan, &d) == MSD_OK;

	if (!is_open) {
		(void)fprintf(stderr, "%s\n",
			      is_read ? msd_diag_text(&d) : modser_graph_error(g));
	}
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
	msd_diag_finish(&d);
	return !is_open;
}

static int measure_open(const modser_serializer *s, const char *path, size_t runs)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = {0};
	double *us = calloc(runs, sizeof(*us));
	int result = 0;

	if (us == NULL || fd < 0 || fstat(fd, &st) != 0)
		abort();
	const modser_part file = {
		mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0),
		(uint64_t)st.st_size};
	if (file.data == MAP_FAILED)
		abort();
	for (size_t i = 0; result == 0 && i < runs; i++) {
		us[i] = now_us();
		result = open_once(s, &file);
		us[i] = now_us() - us[i];
	}
	qsort(us, runs, sizeof(*us), by_size);
	if (result == 0)
		(void)printf("%.1f\n", us[runs / 2]);
	free(us);
	(void)munmap((void *)(uintptr_t)file.data, (size_t)st.st_size);
	(void)close(fd);
	return result;
}

static int measure_runs(const modser_serializer *s, const char *path, size_t runs)
{
	modser_graph *g = modser_graph_create("");
	int result = 1;

	if (modser_serializer_load_files(s, &path, 1, NULL, g) != 0) {
		(void)fprintf(stderr, "%s\n", modser_graph_error(g));
	} else {
		result = measure(g, runs);
	}
	modser_graph_destroy(g);
	return result;
}

int main(int argc, char **argv)
{
	const bool is_open = argc > 3 && strcmp(argv[3], "open") == 0;
	const long runs = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	modser_serializer *s = modser_serializer_get("onnx");
	int result = 1;

	if (runs < 1 || setenv("TVM_NUM_THREADS", "1", 1) != 0) {
		(void)fprintf(stderr, "usage: bench_graph FILE RUNS [open]\n");
	} else {
		result = is_open ? measure_open(s, argv[1], (size_t)runs)
				 : measure_runs(s, argv[1], (size_t)runs);
	}
	modser_serializer_unref(s);
	return result;
}
