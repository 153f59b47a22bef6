/*
 * Models compiled by TVM 0.27, with the outputs that TVM's own VM computed. Needs the
 * fixtures: MODSERD_FIXTURES, else ../shared/fixtures beside the source tree.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/relax/npy.h"

struct model {
	struct msd_buf file;
	struct msd_buf npz;
	struct msd_loaded *m;
	struct msd_function *fn;
	const struct msd_func_info *info;
	struct msd_any args[64];
	size_t n_args;
	struct msd_any ret;
	struct msd_diag d;
};

static struct msd_buf fixture_read(const char *stem, const char *ext)
{
	const char *root = getenv("MODSERD_FIXTURES");
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/tvm-0.27/%s%s",
		       root != NULL ? root : MSD_SOURCE_DIR "/../shared/fixtures", stem,
		       ext);
	return file_read(path);
}

/* False, with a line that says so, when the fixture is not there. */
static bool model_open(struct model *m, const char *stem, const char *function)
{
	struct msd_load_options options = {.label = stem};
	char name[16];

#ifndef __x86_64__
	(void)fprintf(stderr, "skipped: tvm-0.27/%s.so is code for x86-64\n", stem);
	return false;
#endif
	m->file = fixture_read(stem, ".so");
	m->npz = fixture_read(stem, ".npz");
	if (m->file.n == 0) {
		(void)fprintf(stderr, "skipped: fixture tvm-0.27/%s.so is not here\n",
			      stem);
		return false;
	}
	int fd = memfd_create(stem, MFD_CLOEXEC);
	cr_assert_eq(write(fd, m->file.p, m->file.n), (ssize_t)m->file.n);
	cr_assert_eq(msd_loaded_open(fd, (struct msd_span){m->file.p, m->file.n},
				     &options, &m->m, &m->d),
		     MSD_OK, "%s", msd_diag_text(&m->d));
	(void)close(fd);
	if (msd_loaded_find(m->m, function, &m->info, &m->fn, &m->d) != MSD_OK)
		return true; /* the test wants to see the error */
	for (; m->npz.n > 0; m->n_args++) {
		(void)snprintf(name, sizeof(name), "in%zu", m->n_args);
		struct msd_tensor *t =
			npy_read(npz_find((struct msd_span){m->npz.p, m->npz.n}, name));
		if (t == NULL)
			break;
		m->args[m->n_args] = msd_of_obj(&t->obj);
	}
	return true;
}

static void model_close(struct model *m)
{
	for (size_t i = 0; i < m->n_args; i++)
		msd_any_drop(&m->args[i]);
	msd_any_drop(&m->ret);
	msd_loaded_close(m->m);
	msd_buf_finish(&m->file);
	msd_buf_finish(&m->npz);
	msd_diag_finish(&m->d);
}

/* Order of floats by bit pattern, so that neighbours differ by one. */
static int64_t float_rank(const void *p)
{
	int32_t bits;

	memcpy(&bits, p, sizeof(bits));
	return bits < 0 ? (int64_t)INT32_MIN - bits : bits;
}

static void expect_output(const struct model *m, const struct msd_any *v, size_t i,
			  int64_t ulps)
{
	const struct msd_dltensor *got = msd_any_dltensor(v);
	char name[32];

	(void)snprintf(name, sizeof(name), "out%zu", i);
	struct msd_tensor *want =
		npy_read(npz_find((struct msd_span){m->npz.p, m->npz.n}, name));
	cr_assert_not_null(want);
	cr_assert_not_null(got);
	size_t bytes = msd_dltensor_bytes(got);
	cr_assert_eq(bytes, msd_dltensor_bytes(&want->dl));
	for (size_t at = 0; at < bytes; at += sizeof(float)) {
		int64_t off = float_rank((char *)got->data + at) -
			      float_rank((char *)want->dl.data + at);
		cr_assert(off <= ulps && off >= -ulps, "%s at byte %zu", name, at);
	}
	msd_obj_unref(&want->obj);
}

static void expect_model(const char *stem, const char *function, int64_t ulps)
{
	struct model m = {0};

	if (!model_open(&m, stem, function))
		return;
	for (int run = 0; run < 3; run++) { /* the later ones on used memory */
		cr_assert_eq(msd_loaded_call(m.m, m.fn, m.args, m.n_args, &m.ret, &m.d),
			     MSD_OK, "%s", msd_diag_text(&m.d));
		if (m.ret.type == MSD_T_ARRAY) {
			const struct msd_array *t = m.ret.as.p;
			for (int64_t i = 0; i < t->size; i++)
				expect_output(&m, &t->items[i], (size_t)i, ulps);
		} else {
			expect_output(&m, &m.ret, 0, ulps);
		}
		msd_any_drop(&m.ret);
	}
	model_close(&m);
}

/* The MLPs end in a softmax: expf of another libm may differ in the last bits. */
Test(relax_fixtures, mlp_with_dynamic_batch)
{
	expect_model("relax_mlp", "forward", 2);
}

Test(relax_fixtures, mlp_of_static_shape)
{
	expect_model("relax_mlp_static", "forward", 2);
}

Test(relax_fixtures, mlp_with_constants)
{
	expect_model("relax_mlp_const", "forward", 2);
}

Test(relax_fixtures, convolutions_bit_for_bit)
{
	expect_model("convnet_small", "forward", 0);
}

Test(relax_fixtures, branches_and_tuples_bit_for_bit)
{
	expect_model("ctrl", "main", 0);
	expect_model("ctrl_false", "main", 0);
}

Test(relax_fixtures, a_wrong_argument_is_named)
{
	struct model m = {0};

	if (!model_open(&m, "relax_mlp", "forward"))
		return;
	msd_any_drop(&m.args[0]);
	m.args[0] = msd_int(3);
	cr_assert_eq(msd_loaded_call(m.m, m.fn, m.args, m.n_args, &m.ret, &m.d),
		     MSD_BAD_ARGUMENT);
	cr_assert_str_eq(msd_diag_text(&m.d),
			 "forward: argument 0 (x): expected a float32 "
			 "tensor of rank 2, got int");
	model_close(&m);
}

/* The same model as relax_mlp_static, whose values it is compared with. */
Test(relax_fixtures, compiled_mode)
{
	struct model m = {0};
	struct model values = {0};

	if (!model_open(&m, "relax_mlp_vmtir", "forward") ||
	    !model_open(&values, "relax_mlp_static", "forward"))
		return;
	for (int run = 0; run < 2; run++) {
		cr_assert_eq(msd_loaded_call(m.m, m.fn, values.args, values.n_args,
					     &m.ret, &m.d),
			     MSD_OK, "%s", msd_diag_text(&m.d));
		expect_output(&values, &m.ret, 0, 2);
		msd_any_drop(&m.ret);
	}
	model_close(&m);
	model_close(&values);
}
