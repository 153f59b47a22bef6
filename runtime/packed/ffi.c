/* Functions that tvm-ffi registers under its own names: makers of containers, and the
 * registry's own functions. Code built with its headers calls the latter. */
#include <stdlib.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"
#include "runtime/value/function.h"
#include "runtime/value/map.h"
#include "runtime/value/registry.h"

static int array(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_array *a = msd_array_new((size_t)n);

	(void)self;
	for (int32_t i = 0; a != NULL && i < n; i++) {
		if (!msd_any_copy(&args[i], &a->items[i])) {
			msd_obj_unref(&a->obj);
			a = NULL;
		}
	}
	return msd_return_obj(a != NULL ? &a->obj : NULL, ret);
}

/* (key, value, key, value, ...) -> map */
static int map(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	size_t repeated;
	struct msd_map *m;

	(void)self;
	if (n % 2 != 0) {
		return msd_abi_raise("ValueError", "expected pairs, got %d arguments",
				     (int)n);
	}
	/* a pair is two values, one behind the other */
	m = msd_map_new(MSD_T_MAP, (const struct msd_pair *)(const void *)args,
			(size_t)n / 2, &repeated);
	if (m == NULL && repeated != SIZE_MAX) {
		return msd_abi_raise("ValueError", "argument %zu: a key again",
				     2 * repeated);
	}
	return msd_return_obj(m != NULL ? &m->obj : NULL, ret);
}

/* (extents...) -> shape */
static int shape(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t dim[MSD_MAX_NDIM];
	struct msd_shape *s;

	(void)self;
	if (!msd_args_count(a, 0, MSD_MAX_NDIM))
		return -1;
	for (int32_t i = 0; i < n; i++) {
		if (!msd_args_int(a, i, &dim[i]))
			return -1;
	}
	s = msd_shape_new(dim, (size_t)n);
	return msd_return_obj(s != NULL ? &s->obj : NULL, ret);
}

static int text(const struct msd_any *args, int32_t n, bool is_text,
		struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_span s;

	if (!msd_args_count(a, 1, 1))
		return -1;
	if (!msd_any_str(&args[0], &s))
		return msd_args_refuse(a, 0, is_text ? "a str" : "bytes");
	return msd_any_text(s, is_text, ret) ? 0 : msd_abi_no_memory();
}

static int string(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	(void)self;
	return text(args, n, true, ret);
}

static int bytes(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	(void)self;
	return text(args, n, false, ret);
}

/* (name) -> bool: was it registered? */
static int remove_global(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_span name;

	(void)self;
	if (!msd_args_count(a, 1, 1))
		return -1;
	if (!msd_any_str(&args[0], &name))
		return msd_args_refuse(a, 0, "a str");
	*ret = msd_bool(msd_registry_remove(name));
	return 0;
}

/* (index) -> name; -1: the number of names */
static int name_at(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret)
{
	const struct msd_array *names = self;
	struct msd_args a = {args, n};
	int64_t i;

	if (!msd_args_count(a, 1, 1) || !msd_args_int(a, 0, &i))
		return -1;
	if (i < 0) {
		*ret = msd_int(names->size);
		return 0;
	}
	if (i >= names->size) {
		return msd_abi_raise("IndexError", "there are %lld names",
				     (long long)names->size);
	}
	return msd_return_copy(&names->items[i], ret);
}

static void drop_names(void *self)
{
	msd_obj_unref(self);
}

/* () -> function that lists the registered names of this moment */
static int list_names(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	struct msd_array *names = msd_registry_names();
	struct msd_function *fn =
		names != NULL ? msd_function_new(names, name_at, drop_names) : NULL;

	(void)self, (void)args, (void)n;
	if (fn == NULL && names != NULL)
		msd_obj_unref(&names->obj);
	return msd_return_obj(fn != NULL ? &fn->obj : NULL, ret);
}

const struct msd_global msd_globals_ffi[] = MSD_GLOBAL_TABLE(MSD_PACKED_FFI);
