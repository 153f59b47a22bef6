/* tvm.contrib.sort.*: sorts along one axis into output arguments, called by compiled
 * code. They accept every dtype that modserd reads as a number; TVM accepts fewer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"
#include "runtime/packed/order.h"

/* A tensor as lanes along an axis: element k of lane (i, j) is at
 * (i * extent + k) * after + j. */
struct lanes {
	int64_t before;
	int64_t extent;
	int64_t after;
};

struct job {
	struct msd_dltensor *in;
	struct msd_dltensor *values;  /* or NULL */
	struct msd_dltensor *indices; /* or NULL */
	struct lanes lanes;
	int64_t k; /* elements of an output lane */
	enum msd_number_kind kind;
	struct msd_order order;
	bool descend;
	struct msd_item *items;
	struct msd_item *scratch;
};

static bool lanes_of(const struct msd_dltensor *t, int64_t axis, struct lanes *ret)
{
	if (axis < 0)
		axis += t->ndim;
	if (axis < 0 || axis >= t->ndim) {
		(void)msd_abi_raise("ValueError",
				    "Axis out of boundary for input ndim %" PRId32,
				    t->ndim);
		return false;
	}
	*ret = (struct lanes){1, t->shape[axis], 1};
	for (int32_t i = 0; i < t->ndim; i++) {
		if (i < axis) {
			ret->before *= t->shape[i];
		} else if (i > axis) {
			ret->after *= t->shape[i];
		}
	}
	return true;
}

static bool refuse_dtype(const char *which, struct msd_dtype dtype)
{
	char name[MSD_DTYPE_NAME_MAX];

	(void)msd_abi_raise("TypeError", "Unsupported %s dtype: %s", which,
			    msd_dtype_format(dtype, name));
	return false;
}

/* Read the input and the axis; the outputs are read later. */
static bool job_open(struct msd_args a, int32_t axis_at, struct job *ret)
{
	int64_t axis;
	int64_t ascend;

	*ret = (struct job){0};
	if (!msd_args_host_compact_tensor(a, 0, &ret->in) ||
	    !msd_args_int(a, axis_at, &axis) || !msd_args_int(a, a.n - 1, &ascend) ||
	    !lanes_of(ret->in, axis, &ret->lanes))
		return false;
	ret->k = ret->lanes.extent;
	ret->descend = ascend == 0;
	ret->kind = msd_number_kind(ret->in->dtype);
	ret->order.is_float = ret->kind == MSD_N_FLOAT;
	return ret->kind != MSD_N_NONE || refuse_dtype("input", ret->in->dtype);
}

/* An output with room for k elements of every lane. */
static bool job_output(struct msd_args a, int32_t i, const struct job *job,
		       struct msd_dltensor **ret)
{
	const int64_t shape[] = {job->lanes.before, job->k, job->lanes.after};
	uint64_t want;
	uint64_t have;

	if (!msd_args_host_compact_tensor(a, i, ret))
		return false;
	if (msd_number_kind((*ret)->dtype) == MSD_N_NONE)
		return refuse_dtype("output", (*ret)->dtype);
	if (msd_shape_elements(shape, 3, &want) &&
	    msd_shape_elements((*ret)->shape, (size_t)(*ret)->ndim, &have) &&
	    have == want)
		return true;
	(void)msd_abi_raise("ValueError",
			    "argument %d: expected %" PRId64 " x %" PRId64 " x %" PRId64
			    " elements",
			    (int)i, shape[0], shape[1], shape[2]);
	return false;
}

/* The values output; it must have the dtype of the input. */
static bool job_values(struct msd_args a, int32_t i, struct job *job)
{
	char want[MSD_DTYPE_NAME_MAX];
	char got[MSD_DTYPE_NAME_MAX];

	if (!job_output(a, i, job, &job->values))
		return false;
	if (msd_dtype_eq(job->values->dtype, job->in->dtype))
		return true;
	(void)msd_abi_raise("TypeError", "argument %d: expected dtype %s but got %s",
			    (int)i, msd_dtype_format(job->in->dtype, want),
			    msd_dtype_format(job->values->dtype, got));
	return false;
}

static struct msd_item load(const struct job *job, int64_t base, int64_t k)
{
	union msd_number v = msd_number_load(job->in->dtype, msd_dltensor_at(job->in),
					     base + k * job->lanes.after);

	if (!job->order.is_float)
		v.i = msd_number_key(job->kind, v);
	return (struct msd_item){k,
				 job->descend ? msd_number_negate(job->order, v) : v};
}

static void store(const struct job *job, int64_t from, int64_t to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const int64_t at = to + (int64_t)i * job->lanes.after;

		if (job->indices != NULL) {
			msd_number_store(job->indices->dtype,
					 msd_dltensor_at(job->indices), at,
					 job->items[i].index);
		}
		if (job->values != NULL) {
			const size_t size = (job->in->dtype.bits + 7u) / 8;
			const int64_t source =
				from + job->items[i].index * job->lanes.after;

			memcpy((char *)msd_dltensor_at(job->values) +
				       at * (int64_t)size,
			       (char *)msd_dltensor_at(job->in) +
				       source * (int64_t)size,
			       size);
		}
	}
}

/* Sort the first @n elements of the lane at @base into items. */
static size_t sort_lane(const struct job *job, int64_t base, int64_t n)
{
	for (int64_t k = 0; k < n; k++)
		job->items[k] = load(job, base, k);
	msd_items_sort(job->order, job->items, (size_t)n, job->scratch);
	return (size_t)n;
}

/* Find the first k items of the lane in order. */
static size_t top_lane(const struct job *job, int64_t base)
{
	struct msd_top top = {.order = job->order, .items = job->items};
	int64_t at = 0;

	for (; at < job->k && at < job->lanes.extent; at++)
		top.items[top.n++] = load(job, base, at);
	msd_top_start(&top);
	for (; at < job->lanes.extent; at++)
		msd_top_offer(&top, load(job, base, at));
	msd_items_sort(job->order, top.items, top.n, job->scratch);
	return top.n;
}

/* Allocate the items of a lane, one more for the new item of the heap, and half as
 * many for scratch. */
static bool job_start(struct job *job)
{
	const size_t n = (size_t)job->lanes.extent + 1;
	size_t bytes;

	if (msd_mul_size(n + n / 2 + 1, sizeof(*job->items), &bytes))
		job->items = malloc(bytes);
	if (job->items == NULL) {
		(void)msd_abi_raise_code(MSD_NOMEM,
					 "out of memory to sort %" PRId64 " elements",
					 job->lanes.extent);
		return false;
	}
	job->scratch = job->items + n;
	return true;
}

static int job_run(struct job *job, size_t (*lane)(const struct job *, int64_t base))
{
	if (!job_start(job))
		return -1;
	for (int64_t i = 0; i < job->lanes.before; i++) {
		for (int64_t j = 0; j < job->lanes.after; j++) {
			const int64_t from =
				i * job->lanes.extent * job->lanes.after + j;
			const int64_t to = i * job->k * job->lanes.after + j;

			store(job, from, to, lane(job, from));
		}
	}
	free(job->items);
	return 0;
}

static size_t whole_lane(const struct job *job, int64_t base)
{
	return sort_lane(job, base, job->lanes.extent);
}

/* (in, out indices, axis, is_ascend) */
static int argsort(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct job job;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 4, 4) || !job_open(a, 2, &job) ||
	    !job_output(a, 1, &job, &job.indices))
		return -1;
	return job_run(&job, whole_lane);
}

/* (in, out values, axis, is_ascend) */
static int sort(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct job job;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 4, 4) || !job_open(a, 2, &job) ||
	    !job_values(a, 1, &job))
		return -1;
	return job_run(&job, whole_lane);
}

/* (in, out values and indices or one of them, k, axis, "both" | "values" | "indices",
 * is_ascend); k below 1 means all. If k exceeds the extent, the rest is not written. */
static int topk(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_span which;
	struct job job;
	int64_t k;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 6, 7) || !job_open(a, n - 3, &job) ||
	    !msd_args_int(a, n - 4, &k))
		return -1;
	if (!msd_any_str(&args[n - 2], &which))
		return msd_args_refuse(a, n - 2, "str");
	const bool both = msd_span_is(which, "both");
	if (!both && !msd_span_is(which, "values") && !msd_span_is(which, "indices")) {
		return msd_abi_raise("ValueError", "Unsupported ret type: %.*s",
				     (int)which.n, (const char *)which.p);
	}
	if (n != (both ? 7 : 6)) {
		return msd_abi_raise("TypeError", "expected %d arguments but got %d",
				     both ? 7 : 6, (int)n);
	}
	job.k = k < 1 ? job.lanes.extent : k;
	job.order.by_index = true;
	if ((both || which.p[0] == 'v') && !job_values(a, 1, &job))
		return -1;
	if ((both || which.p[0] == 'i') &&
	    !job_output(a, both ? 2 : 1, &job, &job.indices))
		return -1;
	return job_run(&job, top_lane);
}

static bool int32_tensor(struct msd_args a, int32_t i, int64_t elements,
			 struct msd_dltensor **ret)
{
	const struct msd_dtype int32 = {MSD_DT_INT, 32, 1};
	uint64_t have;

	if (!msd_args_host_compact_tensor(a, i, ret))
		return false;
	if (msd_dtype_eq((*ret)->dtype, int32) &&
	    msd_shape_elements((*ret)->shape, (size_t)(*ret)->ndim, &have) &&
	    have == (uint64_t)elements)
		return true;
	(void)msd_abi_raise("TypeError",
			    "argument %d: expected an int32 tensor of %" PRId64
			    " elements",
			    (int)i, elements);
	return false;
}

/* Sort the first elements of each lane, as many as @count says; the other elements
 * keep their positions. */
static int nms_run(struct job *job, const int32_t *count)
{
	int rc = 0;

	if (!job_start(job))
		return -1;
	for (int64_t lane = 0; rc == 0 && lane < job->lanes.before * job->lanes.after;
	     lane++) {
		const int64_t base =
			lane / job->lanes.after * job->lanes.extent * job->lanes.after +
			lane % job->lanes.after;
		const int64_t n = count[lane] > 0 ? count[lane] : 0;

		if (n > job->lanes.extent) {
			rc = msd_abi_raise("ValueError",
					   "%" PRId64
					   " elements to sort in a lane of %" PRId64,
					   n, job->lanes.extent);
			break;
		}
		(void)sort_lane(job, base, n);
		for (int64_t k = n; k < job->lanes.extent; k++)
			job->items[k].index = k;
		store(job, base, base, (size_t)job->lanes.extent);
	}
	free(job->items);
	return rc;
}

/* (in, number of elements to sort per lane, out indices, axis, is_ascend) */
static int argsort_nms(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *count;
	struct job job;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 5, 5) || !job_open(a, 3, &job))
		return -1;
	const int64_t lanes = job.lanes.before * job.lanes.after;
	if (!int32_tensor(a, 1, lanes, &count) ||
	    !int32_tensor(a, 2, lanes * job.lanes.extent, &job.indices))
		return -1;
	return nms_run(&job, msd_dltensor_at(count));
}

const struct msd_global msd_globals_sort[] = MSD_GLOBAL_TABLE(MSD_PACKED_SORT);
