/* tvm.contrib.cblas.*: products by the system's BLAS; where there is none, the refusal
 * is what is tested. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/runtime/relax/builtin_support.h"

#define NO_BLAS                                                                        \
	"no BLAS here: looked for cblas_sgemm and cblas_dgemm in libopenblas.so.0"

static struct msd_any filled(struct msd_dtype t, const int64_t *dim, size_t n,
			     const void *v)
{
	struct msd_any x = tensor(t, dim, n);

	memcpy(msd_any_dltensor(&x)->data, v, msd_dltensor_bytes(msd_any_dltensor(&x)));
	return x;
}

/* False where there is no BLAS. */
static bool multiplied(struct call *c, const char *name)
{
	if (run_call(c, name))
		return true;
	cr_assert_eq(strncmp(msd_diag_text(&c->d), NO_BLAS, strlen(NO_BLAS)), 0, "%s",
		     msd_diag_text(&c->d));
	(void)fprintf(stderr, "SKIPPED: no BLAS\n");
	return false;
}

Test(blas, matmul_of_float32)
{
	static const float a[] = {1, 2, 3, 4, 5, 6};
	static const float b[] = {1, 0, 2, 1, 0, 3};
	static const float want[] = {5, 11, 14, 23};
	struct call c = {0};

	push(&c, filled(float32, (const int64_t[]){2, 3}, 2, a));
	push(&c, filled(float32, (const int64_t[]){3, 2}, 2, b));
	push(&c, tensor(float32, (const int64_t[]){2, 2}, 2));
	PUSH_INTS(&c, 0, 0);
	if (multiplied(&c, "tvm.contrib.cblas.matmul")) {
		cr_assert_arr_eq(msd_any_dltensor(&c.args[2])->data, want,
				 sizeof(want));
	}
	finish(&c);
}

Test(blas, matmul_of_transposed_float64)
{
	const struct msd_dtype float64 = {MSD_DT_FLOAT, 64, 1};
	static const double a[] = {1, 4, 2, 5, 3, 6};
	static const double b[] = {1, 2, 0, 0, 1, 3};
	static const double want[] = {5, 11, 14, 23};
	struct call c = {0};

	push(&c, filled(float64, (const int64_t[]){3, 2}, 2, a));
	push(&c, filled(float64, (const int64_t[]){2, 3}, 2, b));
	push(&c, tensor(float64, (const int64_t[]){2, 2}, 2));
	PUSH_INTS(&c, 1, 1);
	if (multiplied(&c, "tvm.contrib.cblas.matmul")) {
		cr_assert_arr_eq(msd_any_dltensor(&c.args[2])->data, want,
				 sizeof(want));
	}
	finish(&c);
}

Test(blas, batch_matmul_repeats_a_batch_of_one)
{
	static const float a[] = {1, 2, 3, 4};
	static const float b[] = {2};
	static const float want[] = {2, 4, 6, 8};
	struct call c = {0};

	push(&c, filled(float32, (const int64_t[]){2, 2, 1}, 3, a));
	push(&c, filled(float32, (const int64_t[]){1, 1, 1}, 3, b));
	push(&c, tensor(float32, (const int64_t[]){2, 2, 1}, 3));
	PUSH_INTS(&c, 0, 0);
	if (multiplied(&c, "tvm.contrib.cblas.batch_matmul")) {
		cr_assert_arr_eq(msd_any_dltensor(&c.args[2])->data, want,
				 sizeof(want));
	}
	finish(&c);
}

Test(blas, shapes_that_do_not_fit_are_refused)
{
	struct call c = {0};

	for (int i = 0; i < 3; i++)
		push(&c, x34());
	PUSH_INTS(&c, 0, 0);
	expect_error(&c, "tvm.contrib.cblas.matmul",
		     "ValueError: cannot multiply [3, 4] by [3, 4] into [3, 4]");
}

Test(blas, integers_are_refused)
{
	struct call c = {0};

	for (int i = 0; i < 3; i++)
		push(&c, tensor(int64, (const int64_t[]){2, 2}, 2));
	PUSH_INTS(&c, 0, 0);
	expect_error(&c, "tvm.contrib.cblas.matmul",
		     "TypeError: argument 0: expected float32 or float64, all alike "
		     "but got tensor");
}
