/*
 * vm.builtin.* that call functions: closures, and functions that take their shape
 * arguments one by one. A closure is a function object that appends its saved values,
 * so any caller of functions can call it.
 */
#include <stdlib.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

#define NEAR_ARGS 16 /* argument lists up to this length are on the stack */

/* Call @fn with @n borrowed values followed by @n_more values. */
static int call_joined(struct msd_function *fn, const struct msd_any *v, size_t n,
		       const struct msd_any *more, size_t n_more, struct msd_any *ret)
{
	struct msd_any near[NEAR_ARGS] = {0};
	struct msd_any *all = near;
	int rc;

	if (n + n_more > NEAR_ARGS)
		all = calloc(n + n_more, sizeof(*all));
	if (all == NULL || n + n_more > INT32_MAX) {
		rc = msd_abi_raise_code(MSD_NOMEM, "out of memory for %zu arguments",
					n + n_more);
	} else {
		for (size_t i = 0; i < n; i++)
			all[i] = v[i];
		for (size_t i = 0; i < n_more; i++)
			all[n + i] = more[i];
		rc = fn->call(fn, all, (int32_t)(n + n_more), ret);
	}
	if (all != near)
		free(all);
	return rc;
}

struct closure {
	struct msd_function fn;
	struct msd_function *target; /* one reference */
	size_t n_saved;
	struct msd_any saved[]; /* owned */
};

static void closure_delete(void *self, int flags)
{
	struct closure *c = self;

	if (flags & 1) {
		for (size_t i = 0; i < c->n_saved; i++)
			msd_any_drop(&c->saved[i]);
		msd_obj_unref(&c->target->obj);
	}
	if (flags & 2)
		free(c);
}

static int closure_call(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	struct closure *c = self;

	return call_joined(c->target, args, (size_t)n, c->saved, c->n_saved, ret);
}

/* (function, saved...) -> function that takes the arguments before the saved ones */
static int make_closure(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_function *target;
	struct closure *c;
	(void)self;

	if (!msd_args_count(a, 1, -1) || !msd_args_function(a, 0, &target))
		return -1;
	c = calloc(1, sizeof(*c) + (size_t)(n - 1) * sizeof(c->saved[0]));
	if (c == NULL)
		return msd_return_obj(NULL, ret);
	msd_function_init(&c->fn, msd_function_name(target), closure_call);
	c->fn.obj.deleter = closure_delete;
	c->target = target;
	msd_obj_ref(&target->obj);
	for (int32_t i = 1; i < n; i++) {
		if (!msd_any_copy(&args[i], &c->saved[c->n_saved])) {
			msd_obj_unref(&c->fn.obj);
			return msd_return_obj(NULL, ret);
		}
		c->n_saved++;
	}
	return msd_return_obj(&c->fn.obj, ret);
}

/* (vm, function, args...) -> return value of the function */
static int invoke_closure(void *self, const struct msd_any *args, int32_t n,
			  struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_vm_memory *vm;
	struct msd_function *fn;
	(void)self;

	if (!msd_args_count(a, 2, -1) || !msd_args_vm(a, 0, &vm) ||
	    !msd_args_function(a, 1, &fn))
		return -1;
	return msd_name_error(fn, fn->call(fn, args + 2, n - 2, ret));
}

/* (function, args..., shape): the extents become int arguments */
static int call_tir_dyn(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	struct msd_any extents[MSD_MAX_NDIM];
	struct msd_args a = {args, n};
	struct msd_function *fn;
	struct msd_shape *shape;
	(void)self;

	if (!msd_args_count(a, 2, -1) || !msd_args_function(a, 0, &fn) ||
	    !msd_args_shape(a, n - 1, &shape))
		return -1;
	if (shape->ndim > MSD_MAX_NDIM) {
		return msd_abi_raise("ValueError", "a shape of %zu extents: at most %d",
				     shape->ndim, MSD_MAX_NDIM);
	}
	for (size_t i = 0; i < shape->ndim; i++)
		extents[i] = msd_int(shape->dim[i]);
	return msd_name_error(fn, call_joined(fn, args + 1, (size_t)n - 2, extents,
					      shape->ndim, ret));
}

const struct msd_global msd_globals_call[] = MSD_GLOBAL_TABLE(MSD_PACKED_CALL);
