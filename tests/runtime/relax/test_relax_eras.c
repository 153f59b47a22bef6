/*
 * Relax executables of the releases that no artifact is at hand of (0.16 - 0.23):
 * written from the format documents, in libraries that behave like code of their era.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/relax/npy.h"
#include "tests/runtime/relax/vm_tree.h"

static struct msd_any bool_value(bool v)
{
	struct msd_tensor *t =
		msd_tensor_new((struct msd_dtype){MSD_DT_BOOL, 8, 1}, NULL, 0);

	*(bool *)t->dl.data = v;
	return msd_of_obj(&t->obj);
}

struct model {
	struct msd_buf file;
	int fd;
	struct msd_loaded *m;
	struct msd_function *fn;
	struct msd_diag d;
};

static void model_open(struct model *l, const char *path, const char *function)
{
	struct msd_load_options options = {.label = "test.so",
					   .probe_signatures = true};
	const struct msd_func_info *info;

	*l = (struct model){.file = file_read(path),
			    .fd = open(path, O_RDONLY | O_CLOEXEC)};
	cr_assert_eq(msd_loaded_open(l->fd, (struct msd_span){l->file.p, l->file.n},
				     &options, &l->m, &l->d),
		     MSD_OK, "%s", msd_diag_text(&l->d));
	cr_assert_eq(msd_loaded_find(l->m, function, &info, &l->fn, &l->d), MSD_OK,
		     "%s", msd_diag_text(&l->d));
}

static void model_close(struct model *l)
{
	msd_loaded_close(l->m);
	(void)close(l->fd);
	msd_buf_finish(&l->file);
	msd_diag_finish(&l->d);
}

/* main(x, c) of the library at @path. */
static void expect_model(const char *path)
{
	struct model l;

	model_open(&l, path, "main");
	for (int c = 0; c <= 1; c++) {
		struct msd_any args[] = {f32_tensor((float[]){5, 6}, 2), bool_value(c)};
		struct msd_any ret = msd_none();

		cr_assert_eq(msd_loaded_call(l.m, l.fn, args, 2, &ret, &l.d), MSD_OK,
			     "%s", msd_diag_text(&l.d));
		cr_assert_eq(f32_at(&ret, 0), c ? 6 : -1);
		cr_assert_eq(f32_at(&ret, 1), c ? 7 : -2);
		msd_any_drop(&args[0]);
		msd_any_drop(&args[1]);
		msd_any_drop(&ret);
	}
	model_close(&l);
}

Test(relax_eras, compiled_code_never_gets_an_object_that_is_no_tensor)
{
	static const char *const paths[] = {LIBRARY_016, LIBRARY_021, LIBRARY_023};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct msd_any s = shape_value((int64_t[]){1}, 1);
		struct msd_any ret = msd_none();
		struct model l;

		model_open(&l, paths[i], "misuse");
		cr_assert_eq(msd_loaded_call(l.m, l.fn, &s, 1, &ret, &l.d),
			     MSD_BAD_ARGUMENT);
		cr_assert_not_null(
			strstr(msd_diag_text(&l.d),
			       "misuse: pc 0: addone: argument 0: expected "));
		msd_any_drop(&s);
		model_close(&l);
	}
}

Test(relax_eras, relax_executable_of_0_16)
{
	expect_model(LIBRARY_016);
}

Test(relax_eras, vm_executable_of_0_20)
{
	expect_model(LIBRARY_020);
}

Test(relax_eras, vm_executable_of_0_21)
{
	expect_model(LIBRARY_021);
}

Test(relax_eras, vm_executable_of_0_22)
{
	expect_model(LIBRARY_022);
}

Test(relax_eras, vm_executable_of_0_23)
{
	expect_model(LIBRARY_023);
}
