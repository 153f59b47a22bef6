#include "tests/runtime/relax/builtin_support.h"

#include <criterion/criterion.h>
#include <string.h>

#include "runtime/packed/global.h"
#include "runtime/value/error.h"

void push(struct call *c, struct msd_any v)
{
	c->args[c->n++] = v;
}

void push_ints(struct call *c, const int64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		push(c, msd_int(v[i]));
}

struct msd_any text(const char *s)
{
	return msd_of_obj(&msd_str_new(s, strlen(s), MSD_T_STR)->obj);
}

struct msd_any dtype_value(struct msd_dtype t)
{
	return (struct msd_any){.type = MSD_T_DTYPE, .as.dtype = t};
}

struct msd_any tensor(struct msd_dtype t, const int64_t *dim, size_t n)
{
	return msd_of_obj(&msd_tensor_new(t, dim, n)->obj);
}

struct msd_any x34(void)
{
	return tensor(float32, (const int64_t[]){3, 4}, 2);
}

struct msd_any heap_of(int64_t a, int64_t b)
{
	struct msd_any h = tensor(int64, (const int64_t[]){2}, 1);
	int64_t *cell = msd_any_dltensor(&h)->data;

	cell[0] = a;
	cell[1] = b;
	return h;
}

int64_t cell_of(const struct msd_any *heap, int i)
{
	return ((const int64_t *)msd_any_dltensor(heap)->data)[i];
}

bool run_call(struct call *c, const char *name)
{
	struct msd_function *fn = msd_global_find(name);
	bool is_ok;

	cr_assert_not_null(fn, "%s", name);
	is_ok = fn->call(fn, c->args, c->n, &c->ret) == 0;
	if (!is_ok)
		(void)msd_abi_fetch_error(&c->d);
	return is_ok;
}

void finish(struct call *c)
{
	for (int32_t i = 0; i < c->n; i++)
		msd_any_drop(&c->args[i]);
	msd_any_drop(&c->ret);
	msd_diag_finish(&c->d);
	*c = (struct call){0};
}

void expect_ok(struct call *c, const char *name)
{
	cr_assert(run_call(c, name), "%s", msd_diag_text(&c->d));
}

void expect_error(struct call *c, const char *name, const char *message)
{
	cr_assert_not(run_call(c, name));
	cr_assert_str_eq(msd_diag_text(&c->d), message);
	finish(c);
}

const struct msd_shape *ret_shape(const struct call *c)
{
	cr_assert_eq(c->ret.type, MSD_T_SHAPE);
	return c->ret.as.p;
}
