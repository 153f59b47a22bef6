/* Code for OpenCL given to the backend as a blob: what drivers refuse, parts of
 * buffers, the cache of binaries. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device/launch.h"
#include "runtime/device/memory.h"
#include "runtime/device/opencl/source.h"
#include "tests/runtime/device/device_support.h"

#define ADD_ONE                                                                        \
	"// Function: add_one\n"                                                       \
	"static int step(void) { return 1; }\n"                                        \
	"__kernel void add_one(__global int *x) { x[get_global_id(0)] += step(); }\n"
#define ADD_TWO                                                                        \
	"// Function: add_two\n"                                                       \
	"static int step(void) { return 2; }\n"                                        \
	"__kernel void add_two(__global int *x) { x[get_global_id(0)] += step(); }\n"

static struct msd_dtype handle = {MSD_DT_HANDLE, 64, 1};
static struct msd_span tag = {(const uint8_t *)"threadIdx.x", 11};

static struct msd_kernel kernel(const char *name)
{
	return (struct msd_kernel){.name = msd_span_of(name),
				   .args = &handle,
				   .n_args = 1,
				   .tags = &tag,
				   .n_tags = 1};
}

/* Launch kernel @i over 4 items that begin at @p. */
static msd_err launch(struct msd_dev *dev, struct msd_dev_program *program,
		      const struct msd_kernel *k, size_t i, void *p, struct msd_diag *d)
{
	const struct msd_any args[] = {{.type = MSD_T_POINTER, .as.p = p}, msd_int(4)};
	struct msd_launch_plan plan;

	cr_assert_eq(msd_launch_plan_make(k, &plan, NULL), MSD_OK);
	msd_err err = msd_launch_run(&plan, dev, program, i, args, 2, d);
	msd_launch_plan_finish(&plan);
	return err;
}

static void expect_ints(struct msd_dev *dev, void *p, const int *want, size_t n)
{
	int got[64];

	cr_assert_eq(msd_dev_copy(NULL, got, dev, p, n * sizeof(int), NULL), MSD_OK);
	cr_assert_eq(msd_dev_sync(dev, NULL), MSD_OK);
	cr_expect_eq(memcmp(got, want, n * sizeof(int)), 0);
}

Test(opencl_code, helpers_of_one_name_stand_in_several_sections)
{
	struct msd_kernel kernels[] = {kernel("add_two"), kernel("add_one")};
	const struct msd_device_blob blob = {
		.format = msd_span_of("cl"),
		.code = msd_span_of("ignored\n" ADD_ONE ADD_TWO),
		.kernels = kernels,
		.n_kernels = 2};
	struct msd_dev *dev = opencl_open();
	struct msd_dev_program *program;
	struct msd_diag d = {0};
	void *p;

	if (dev == NULL)
		return;
	cr_assert_eq(dev->ops->load(dev, &blob, &program, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	cr_assert_eq(msd_dev_alloc(dev, 256, &p, NULL), MSD_OK);
	cr_assert_eq(dev->ops->fill(dev, p, 0, 256, NULL), MSD_OK);
	cr_assert_eq(launch(dev, program, &kernels[0], 0, p, &d), MSD_OK);
	cr_assert_eq(launch(dev, program, &kernels[1], 1, p, &d), MSD_OK);
	expect_ints(dev, p, (const int[]){3, 3, 3, 3, 0}, 5);
	dev->ops->unload(program);
	msd_dev_free(dev, p, 256);
	msd_dev_close(dev);
}

Test(opencl_code, a_kernel_may_begin_within_a_buffer)
{
	struct msd_kernel k = kernel("add_one");
	const struct msd_device_blob blob = {.format = msd_span_of("cl"),
					     .code = msd_span_of(ADD_ONE),
					     .kernels = &k,
					     .n_kernels = 1};
	struct msd_dev *dev = opencl_open();
	struct msd_dev_program *program;
	struct msd_diag d = {0};
	char *p;
	int zero = 0;

	if (dev == NULL)
		return;
	cr_assert_eq(dev->ops->load(dev, &blob, &program, &d), MSD_OK);
	cr_assert_eq(msd_dev_alloc(dev, 4096, (void **)&p, NULL), MSD_OK);
	cr_assert_eq(dev->ops->fill(dev, p, 0, 4096, NULL), MSD_OK);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(launch(dev, program, &k, 0, p + 1024, &d), MSD_OK, "%s",
			     msd_diag_text(&d));
	}
	expect_ints(dev, p + 1020, (const int[]){0, 2, 2, 2, 2, 0}, 6);
	cr_expect_eq(launch(dev, program, &k, 0, p + 4, &d), MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "argument 0: a tensor begins 4 "
						     "bytes into its buffer"));
	cr_expect_eq(launch(dev, program, &k, 0, &zero, &d), MSD_BAD_ARGUMENT);
	dev->ops->unload(program);
	msd_dev_free(dev, p, 4096);
	msd_diag_finish(&d);
	msd_dev_close(dev);
}

static void expect_refused(const char *code, const char *name, msd_err want,
			   const char *text)
{
	struct msd_kernel k = kernel(name);
	const struct msd_device_blob blob = {.format = msd_span_of("cl"),
					     .code = msd_span_of(code),
					     .kernels = &k,
					     .n_kernels = 1};
	struct msd_dev *dev = opencl_open();
	struct msd_dev_program *program;
	struct msd_diag d = {0};

	if (dev == NULL)
		return;
	cr_expect_eq(dev->ops->load(dev, &blob, &program, &d), want);
	cr_expect_not_null(strstr(msd_diag_text(&d), text), "%s", msd_diag_text(&d));
	cr_expect_neq(msd_diag_text(&d)[strlen(msd_diag_text(&d)) - 1], '\n');
	msd_diag_finish(&d);
	msd_dev_close(dev);
}

Test(opencl_code, a_build_log_is_in_the_error)
{
	expect_refused("// Function: f\n__kernel void f(__global int *x) { y = 1; }\n",
		       "f", MSD_UNSUPPORTED, "undeclared identifier 'y'");
}

Test(opencl_code, a_kernel_without_its_section_is_named)
{
	expect_refused(ADD_ONE, "other", MSD_BAD_ARTIFACT,
		       "no section for kernel other");
}

Test(opencl_code, a_kernel_that_is_not_in_its_program_is_named)
{
	expect_refused(
		"// Function: f\n__kernel void g(__global int *x) { x[0] = 1; }\n", "f",
		MSD_BAD_ARTIFACT, "the program has no kernel f");
}

Test(opencl_code, bools_by_value_become_chars)
{
	char code[] = "bool f(bool a);\n"
		      "__kernel void k(__global bool* p, bool q, int bool_r, bool s);\n"
		      "__kernel void k(__global bool* p, bool q) { bool t = q; }\n"
		      "__kernel void l(bool";

	msd_opencl_bools_replace(code, sizeof(code) - 1);
	cr_expect_str_eq(
		code, "bool f(bool a);\n"
		      "__kernel void k(__global bool* p, char q, int bool_r, char s);\n"
		      "__kernel void k(__global bool* p, char q) { bool t = q; }\n"
		      "__kernel void l(bool");
}

/* Damage every file in @directory; returns how many there are. */
static size_t damage(const char *directory)
{
	DIR *d = opendir(directory);
	struct dirent *e;
	size_t n = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char path[512];
		if (e->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
		cr_assert_eq(truncate(path, 100), 0);
		n++;
	}
	if (d != NULL)
		(void)closedir(d);
	return n;
}

Test(opencl_code, a_damaged_cache_is_built_again)
{
	char directory[] = "/tmp/modserd-opencl-XXXXXX";
	char command[64];
	struct msd_kernel k = kernel("add_one");
	const struct msd_device_blob blob = {.format = msd_span_of("cl"),
					     .code = msd_span_of(ADD_ONE),
					     .kernels = &k,
					     .n_kernels = 1};
	struct msd_dev *dev = opencl_open();

	if (dev == NULL)
		return;
	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(setenv("MODSERD_CACHE", directory, 1), 0);
	for (int i = 0; i < 3; i++) { /* built, damaged and built, taken */
		struct msd_dev_program *program;
		cr_assert_eq(dev->ops->load(dev, &blob, &program, NULL), MSD_OK);
		dev->ops->unload(program);
		if (i == 0)
			cr_expect_eq(damage(directory), 1u);
	}
	(void)snprintf(command, sizeof(command), "rm -r %s", directory);
	cr_expect_eq(system(command), 0);
	msd_dev_close(dev);
}
