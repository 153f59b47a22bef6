/* vm.builtin.check_*: assertions of a VM function about its arguments. The last
 * argument is the context that the compiler wrote ("ErrorContext(fn=main, ...)"). */
#include <inttypes.h>
#include <string.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

/* The context argument as printf precision and text; empty if it is not a string. */
static struct msd_span context(struct msd_args a)
{
	struct msd_span s;

	if (a.n == 0 || !msd_any_str(&a.v[a.n - 1], &s))
		return (struct msd_span){(const uint8_t *)"", 0};
	while (s.n > 0 && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

static int wrong_kind(struct msd_args a, const char *expected)
{
	struct msd_span ctx = context(a);

	return msd_abi_raise("TypeError", "%.*s expect %s but get %s", (int)ctx.n,
			     (const char *)ctx.p, expected, msd_type_name(a.v[0].type));
}

static int check_dtype(struct msd_args a, struct msd_dtype got)
{
	char want_name[MSD_DTYPE_NAME_MAX];
	char got_name[MSD_DTYPE_NAME_MAX];
	struct msd_dtype want;

	if (a.v[2].type == MSD_T_NONE)
		return 0;
	if (!msd_args_dtype(a, 2, &want))
		return -1;
	/* 0.22 writes "any dtype" as void: a handle of 0 bits. */
	bool is_void = want.code == MSD_DT_HANDLE && want.bits == 0;
	if (is_void || msd_dtype_eq(want, got))
		return 0;
	struct msd_span ctx = context(a);
	(void)msd_dtype_format(want, want_name);
	(void)msd_dtype_format(got, got_name);
	if (strcmp(want_name, got_name) ==
	    0) { /* both kinds of bool have the same name */
		return msd_abi_raise("ValueError",
				     "%.*s expect Tensor with dtype %s (code %d, %d "
				     "bits) but get %s (code %d, %d bits)",
				     (int)ctx.n, (const char *)ctx.p, want_name,
				     want.code, want.bits, got_name, got.code,
				     got.bits);
	}
	return msd_abi_raise("ValueError",
			     "%.*s expect Tensor with dtype %s but get %s", (int)ctx.n,
			     (const char *)ctx.p, want_name, got_name);
}

/* (x, ndim or -1, [dtype or None], context) */
static int check_tensor_info(void *self, const struct msd_any *args, int32_t n,
			     struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t ndim;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 3, 4) || !msd_args_int(a, 1, &ndim))
		return -1;
	const struct msd_dltensor *t = msd_any_dltensor(&args[0]);
	if (t == NULL)
		return wrong_kind(a, "a Tensor");
	if (ndim != -1 && ndim != t->ndim) {
		struct msd_span ctx = context(a);
		return msd_abi_raise("ValueError",
				     "%.*s expect Tensor with ndim %" PRId64
				     " but get %" PRId32,
				     (int)ctx.n, (const char *)ctx.p, ndim, t->ndim);
	}
	return n == 4 ? check_dtype(a, t->dtype) : 0;
}

/* (x, ndim or -1, context) */
static int check_shape_info(void *self, const struct msd_any *args, int32_t n,
			    struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t ndim;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 3, 3) || !msd_args_int(a, 1, &ndim))
		return -1;
	if (args[0].type != MSD_T_SHAPE)
		return wrong_kind(a, "a Shape");
	const struct msd_shape *s =
		(const struct msd_shape *)(const void *)args[0].as.obj;
	if (ndim == -1 || (ndim >= 0 && (uint64_t)ndim == s->ndim))
		return 0;
	struct msd_span ctx = context(a);
	return msd_abi_raise("ValueError",
			     "%.*s expect Shape with ndim %" PRId64 " but get %zu",
			     (int)ctx.n, (const char *)ctx.p, ndim, s->ndim);
}

/* (x, number of fields, context) */
static int check_tuple_info(void *self, const struct msd_any *args, int32_t n,
			    struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t size;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 3, 3) || !msd_args_int(a, 1, &size))
		return -1;
	if (args[0].type != MSD_T_ARRAY)
		return wrong_kind(a, "a Tuple");
	const struct msd_array *t =
		(const struct msd_array *)(const void *)args[0].as.obj;
	if (t->size == size)
		return 0;
	struct msd_span ctx = context(a);
	return msd_abi_raise("ValueError",
			     "%.*s expect a Tuple with %" PRId64
			     " elements, but get a Tuple with %" PRId64 " elements",
			     (int)ctx.n, (const char *)ctx.p, size, t->size);
}

/* (x, dtype, context): ints pass for every number type, floats only for float types. */
static int check_prim_value_info(void *self, const struct msd_any *args, int32_t n,
				 struct msd_any *ret)
{
	char name[MSD_DTYPE_NAME_MAX];
	struct msd_args a = {args, n};
	struct msd_dtype want;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 3, 3) || !msd_args_dtype(a, 1, &want))
		return -1;
	int32_t got = args[0].type;
	bool is_number = got == MSD_T_INT || got == MSD_T_BOOL;
	bool is_float = want.code == MSD_DT_FLOAT || want.code == MSD_DT_BFLOAT;
	if (want.code == MSD_DT_HANDLE ? got == MSD_T_POINTER || got == MSD_T_NONE
				       : is_number || (is_float && got == MSD_T_FLOAT))
		return 0;
	struct msd_span ctx = context(a);
	return msd_abi_raise("TypeError", "%.*s expect a value of dtype %s but get %s",
			     (int)ctx.n, (const char *)ctx.p,
			     msd_dtype_format(want, name), msd_type_name(got));
}

/* (x, context) */
static int check_func_info(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	struct msd_args a = {args, n};
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 2, 2))
		return -1;
	return args[0].type == MSD_T_FUNCTION ? 0 : wrong_kind(a, "a Function");
}

/* (x, context) */
static int check_string_info(void *self, const struct msd_any *args, int32_t n,
			     struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_span s;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 2, 2))
		return -1;
	return msd_any_str(&args[0], &s) ? 0 : wrong_kind(a, "a string");
}

const struct msd_global msd_globals_check[] = MSD_GLOBAL_TABLE(MSD_PACKED_CHECK);
