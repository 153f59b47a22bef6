/*
 * vm.builtin.cuda_graph.*: regions of a model that are the same in each call, as the
 * compiler found. If the device supports graphs they are captured and launched
 * (runtime/device/captures.h), else they run normally.
 */
#include "artifact/provides/packed.h"
#include "runtime/device/captures.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"
#include "runtime/packed/vm_memory.h"

/* A function and its fixed arguments. */
struct bound {
	struct msd_function *fn;
	const struct msd_any *args;
	int32_t n;
};

static int run_bound(void *ctx, struct msd_any *ret)
{
	const struct bound *b = ctx;

	return msd_name_error(b->fn, b->fn->call(b->fn, b->args, b->n, ret));
}

/* The VM's captures. False if memory is short. *@ret is NULL if its device has no
 * graphs. */
static bool captures_of(struct msd_vm_memory *vm, struct msd_captures **ret)
{
	*ret = vm->captures;
	if (vm->captures != NULL || vm->dev == NULL ||
	    vm->dev->ops->capture_begin == NULL)
		return true;
	*ret = vm->captures = msd_captures_new(vm->dev);
	return *ret != NULL;
}

/* (vm, function, tuple of arguments, entry index[, shape]) */
static int cuda_graph_run_or_capture(void *self, const struct msd_any *args, int32_t n,
				     struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_vm_memory *vm;
	struct msd_array *tuple;
	struct msd_shape *shape = NULL;
	struct msd_captures *captures;
	struct bound b = {0};
	struct msd_region r = {.run = run_bound, .ctx = &b};
	(void)self;

	if (!msd_args_count(a, 4, 5) || !msd_args_vm(a, 0, &vm) ||
	    !msd_args_function(a, 1, &b.fn) || !msd_args_tuple(a, 2, &tuple) ||
	    !msd_args_int(a, 3, &r.index) || (n == 5 && !msd_args_shape(a, 4, &shape)))
		return -1;
	if (!captures_of(vm, &captures))
		return msd_return_obj(NULL, ret);
	b.args = r.args = tuple->items;
	b.n = (int32_t)tuple->size;
	r.n_args = (size_t)tuple->size;
	if (shape != NULL) {
		r.extents = shape->dim;
		r.n_extents = shape->ndim;
	}
	return captures != NULL ? msd_captures_run(captures, &r, ret)
				: run_bound(&b, ret);
}

/* (vm, function, entry index): memory of the regions, the same in each call. Without
 * graphs fresh memory works as well. */
static int cuda_graph_get_cached_alloc(void *self, const struct msd_any *args,
				       int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_vm_memory *vm;
	struct msd_captures *captures;
	struct bound b = {0};
	struct msd_region r = {.run = run_bound, .ctx = &b};
	(void)self;

	if (!msd_args_count(a, 3, 3) || !msd_args_vm(a, 0, &vm) ||
	    !msd_args_function(a, 1, &b.fn) || !msd_args_int(a, 2, &r.index))
		return -1;
	if (!captures_of(vm, &captures))
		return msd_return_obj(NULL, ret);
	return captures != NULL ? msd_captures_keep(captures, &r, ret)
				: run_bound(&b, ret);
}

const struct msd_global msd_globals_cuda_graph[] =
	MSD_GLOBAL_TABLE(MSD_PACKED_CUDA_GRAPH);
