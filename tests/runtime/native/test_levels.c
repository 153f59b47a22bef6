/* The level that the process chooses, and layers on every level of the machine: as the
 * reference engine, with the same bits on each level with fused multiply-add. Their
 * tiles of outputs are not whole panels of any level. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/engine/native/select.h"
#include "tests/graph/one.h"
#include "tests/runtime/native/agree.h"

static void expect_choice(const char *limit, const char *want)
{
	if (limit == NULL) {
		cr_assert_eq(unsetenv("MODSERD_SIMD"), 0);
	} else {
		cr_assert_eq(setenv("MODSERD_SIMD", limit, 1), 0);
	}
	cr_expect_str_eq(msd_native_kernels()->name, want);
}

#if defined(__x86_64__)
/* True if the kernel lists all of @flags, without the compiler's help. */
static bool has_flags(size_t n, const char *const flags[])
{
	char line[8192] = "";
	FILE *f = fopen("/proc/cpuinfo", "r");
	size_t found = 0;

	cr_assert_not_null(f);
	while (strncmp(line, "flags", 5) != 0)
		cr_assert_not_null(fgets(line, sizeof(line), f));
	(void)fclose(f);
	for (char *at = strtok(line, " \t\n"); at != NULL; at = strtok(NULL, " \t\n")) {
		for (size_t i = 0; i < n; i++)
			found += strcmp(at, flags[i]) == 0;
	}
	return found == n;
}

Test(native_levels, the_best_one_is_chosen_unasked)
{
	static const char *const wide[] = {"avx512f",  "avx512bw", "avx512dq",
					   "avx512vl", "fma",      "avx512_vnni"};
	static const char *const narrow[] = {"avx2", "fma"};

	expect_choice(NULL, has_flags(6, wide)     ? "vnni"
			    : has_flags(5, wide)   ? "avx512"
			    : has_flags(2, narrow) ? "avx2"
						   : "base");
}
#endif

Test(native_levels, a_limit_that_no_level_has_is_none)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];

	(void)levels_find(levels);
	expect_choice("sse9", levels[0]->name);
}

/* A process chooses its level once. */
Test(native_levels, each_one_is_chosen_as_a_limit)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);

	for (size_t i = 0; i < n_levels; i++) {
		const char *name = levels[i]->name;
		int status = -1;

		if (msd_native_level(name) == NULL)
			continue;
		cr_assert_eq(setenv("MODSERD_SIMD", name, 1), 0);
		const pid_t child = fork();
		if (child == 0)
			_exit(msd_native_kernels() == levels[i] ? 0 : 1);
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_expect_eq(status, 0, "%s", name);
	}
}

/* The first output of @g on @level, from a process of its own; also the same on three
 * threads. */
static float *run_on(const struct msd_native_kernels *level, modser_graph *g, size_t n)
{
	const size_t bytes = (n + 1) * sizeof(float);
	float *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;

	cr_assert(shared != MAP_FAILED);
	cr_assert_eq(setenv("MODSERD_SIMD", level->name, 1), 0);
	const pid_t child = fork();
	if (child == 0) {
		float *one = run(g, "native", 1, &(size_t){0});
		float *three = run(g, "native", 3, &(size_t){0});

		memcpy(shared, one, n * sizeof(float));
		shared[n] = msd_native_kernels() == level ? 1 : 2;
		_exit(memcmp(one, three, n * sizeof(float)) == 0 ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "%s: other bits on three threads", level->name);
	cr_assert_eq(shared[n], 1, "%s was not chosen", level->name);
	return shared;
}

static void expect_on_each_level(const char *what, struct one *o)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *first = NULL;
	size_t n;
	float *want = run(o->g, "reference", 1, &n);

	for (size_t i = 0; i < n_levels; i++) {
		if (msd_native_level(levels[i]->name) == NULL)
			continue;
		float *is = run_on(levels[i], o->g, n);

		expect_close(what, is, want, n);
		if (first == NULL) {
			first = is;
			continue;
		}
		cr_expect(!levels_is_fused(levels[i]) ||
				  memcmp(first, is, n * sizeof(float)) == 0,
			  "%s: %s has other bits", what, levels[i]->name);
		(void)munmap(is, (n + 1) * sizeof(float));
	}
	(void)munmap(first, (n + 1) * sizeof(float));
	free(want);
	one_end(o);
}

struct layer {
	int64_t in, out, group, size, kernel, stride;
};

static struct one convolution_of(const struct layer *l)
{
	struct one o = one_begin("Convolution");
	const int64_t x[] = {1, l->in, l->size, l->size};
	const int64_t w[] = {l->out, l->in / l->group, l->kernel, l->kernel};

	set_int(o.node, "group", l->group);
	set_int(o.node, "kernel_h", l->kernel);
	set_int(o.node, "kernel_w", l->kernel);
	set_int(o.node, "stride_h", l->stride);
	set_int(o.node, "stride_w", l->stride);
	set_int(o.node, "dilation_h", 1);
	set_int(o.node, "dilation_w", 1);
	set_int(o.node, "pad_h0", l->kernel / 2);
	set_int(o.node, "pad_w0", l->kernel / 2);
	set_int(o.node, "pad_h1", l->kernel / 2);
	set_int(o.node, "pad_w1", l->kernel / 2);
	(void)modser_sg_node_add_input(o.node, given(o.g, 4, x, 61));
	(void)modser_sg_node_add_input(o.node, given(o.g, 4, w, 62));
	(void)modser_sg_node_add_input(o.node, given(o.g, 1, &l->out, 63));
	return o;
}

/* Winograd's tiles, windows of a stride, pointwise and depthwise kernels. */
Test(native_levels, convolutions_of_partial_panels, .timeout = 300)
{
	static const int64_t sizes[] = {28, 14, 15, 7};
	static const struct layer kinds[] = {
		{16, 17, 1, 0, 3, 1},  {40, 72, 1, 0, 3, 1},  {130, 100, 1, 0, 3, 1},
		{16, 24, 1, 0, 3, 2},  {24, 40, 1, 0, 1, 1},  {40, 17, 1, 0, 1, 2},
		{33, 33, 33, 0, 3, 1}, {33, 33, 33, 0, 5, 2}, {20, 30, 10, 0, 3, 1},
	};

	for (size_t i = 0; i < 9 * 4; i++) {
		struct layer l = kinds[i / 4];

		l.size = sizes[i % 4];
		struct one o = convolution_of(&l);
		expect_on_each_level("convolution", &o);
	}
}

Test(native_levels, convolutions_of_many_channels, .timeout = 300)
{
	static const struct layer layers[] = {
		{600, 16, 1, 7, 3, 1}, {16, 600, 1, 14, 3, 1}, {300, 300, 1, 7, 3, 1}};

	for (size_t i = 0; i < 3; i++) {
		struct one o = convolution_of(&layers[i]);
		expect_on_each_level("many channels", &o);
	}
}
