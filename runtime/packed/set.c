/*
 * relax.run.nonzero and relax.run.unique: TVM's Python runtime computes both with
 * numpy (2.4). Both return tensors with a size that depends on the values. unique
 * sorts rows of keys, groups equal rows, and builds each result from the groups.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"
#include "runtime/value/element.h"

#define KEY_FIRST INT64_MIN /* not the key of any float */

static const struct msd_dtype int64 = {MSD_DT_INT, 64, 1};

static bool number_tensor(struct msd_args a, int32_t i, struct msd_dltensor **ret)
{
	char name[MSD_DTYPE_NAME_MAX];

	if (!msd_args_host_compact_tensor(a, i, ret))
		return false;
	if (msd_number_kind((*ret)->dtype) != MSD_N_NONE)
		return true;
	(void)msd_abi_raise("TypeError", "argument %d: unsupported dtype %s", (int)i,
			    msd_dtype_format((*ret)->dtype, name));
	return false;
}

static int64_t elements_of(const struct msd_dltensor *t)
{
	int64_t n = 1;

	for (int32_t i = 0; i < t->ndim; i++)
		n *= t->shape[i];
	return n;
}

static bool is_zero(const struct msd_dltensor *t, int64_t i)
{
	const union msd_number v = msd_number_load(t->dtype, msd_dltensor_at(t), i);

	return msd_number_kind(t->dtype) == MSD_N_FLOAT ? v.f == 0 : v.i == 0;
}

/* (x) -> int64 [max(ndim, 1), count]: the indices of the nonzero elements, row-major */
static int nonzero(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *t;
	int64_t count = 0;
	(void)self;

	if (!msd_args_count(a, 1, 1) || !number_tensor(a, 0, &t))
		return -1;
	const int64_t elements = elements_of(t);
	for (int64_t i = 0; i < elements; i++)
		count += !is_zero(t, i);
	const int64_t shape[] = {t->ndim > 0 ? t->ndim : 1, count};
	struct msd_tensor *out = msd_tensor_new(int64, shape, 2);
	if (out == NULL)
		return msd_return_obj(NULL, ret);
	int64_t *to = out->dl.data;
	for (int64_t i = 0; i < elements; i++) {
		int64_t place = i;

		if (is_zero(t, i))
			continue;
		for (int32_t d = t->ndim; d-- > 0; place /= t->shape[d])
			to[d * count] = place % t->shape[d];
		if (t->ndim == 0)
			*to = 0;
		to++;
	}
	return msd_return_obj(&out->obj, ret);
}

/* A tensor as rows along an axis, with width keys each. Without an axis each element
 * is a row. */
struct rows {
	const struct msd_dltensor *t;
	int32_t axis; /* -1: none */
	int64_t n;
	int64_t width;
	int64_t after;        /* number of consecutive elements in a row */
	bool nan_is_distinct; /* in rows numpy treats each NaN as distinct, in elements
				 as equal */
	bool nan_is_first;    /* in rows numpy sorts float16 NaNs first */
	int64_t *keys;        /* n * width */
};

struct row {
	int64_t index;
	int64_t group;
	const int64_t *key;
	int64_t width;
};

/* Equal rows. */
struct group {
	int64_t first; /* smallest row index */
	int64_t count;
	int64_t rank; /* position in the results */
};

static int64_t element_at(const struct rows *rows, int64_t row, int64_t i)
{
	return (i / rows->after * rows->n + row) * rows->after + i % rows->after;
}

static bool rows_open(const struct msd_dltensor *t, int64_t axis, bool has_axis,
		      struct rows *ret)
{
	*ret = (struct rows){.t = t, .axis = -1, .n = elements_of(t), .width = 1};
	ret->after = 1;
	if (!has_axis)
		return true;
	if (axis < -t->ndim || axis >= t->ndim) {
		(void)msd_abi_raise("ValueError",
				    "axis %" PRId64
				    " is out of bounds for array of dimension %" PRId32,
				    axis, t->ndim);
		return false;
	}
	if (t->ndim == 1)
		return true;
	ret->axis = (int32_t)(axis < 0 ? axis + t->ndim : axis);
	ret->n = t->shape[ret->axis];
	ret->nan_is_distinct = msd_number_kind(t->dtype) == MSD_N_FLOAT;
	ret->nan_is_first = t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 16;
	for (int32_t i = 0; i < t->ndim; i++) {
		if (i != ret->axis)
			ret->width *= t->shape[i];
		if (i > ret->axis)
			ret->after *= t->shape[i];
	}
	return true;
}

static int compare_keys(const struct row *x, const struct row *y)
{
	for (int64_t i = 0; i < x->width; i++) {
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	}
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;
	const int c = compare_keys(x, y);

	return c != 0 ? c : (x->index > y->index) - (x->index < y->index);
}

static int by_first(const void *a, const void *b)
{
	const struct group *const *x = a;
	const struct group *const *y = b;

	return ((*x)->first > (*y)->first) - ((*x)->first < (*y)->first);
}

static bool is_same(const struct rows *rows, const struct row *x, const struct row *y)
{
	if (compare_keys(x, y) != 0)
		return false;
	for (int64_t i = 0; rows->nan_is_distinct && i < rows->width; i++) {
		if (x->key[i] == MSD_KEY_NAN || x->key[i] == KEY_FIRST)
			return false;
	}
	return true;
}

struct unique {
	struct rows rows;
	struct row *row;       /* sorted */
	struct group *group;   /* in key order */
	struct group **result; /* in the requested order */
	int64_t n_groups;
	bool sorted;
};

static void unique_finish(struct unique *u)
{
	free(u->rows.keys);
	free(u->row);
	free(u->group);
	free((void *)u->result);
}

static bool unique_alloc(struct unique *u)
{
	const size_t n = (size_t)u->rows.n + 1;
	const size_t width = (size_t)u->rows.width + 1;
	size_t cells;

	if (!msd_mul_size(n, width, &cells))
		return false;
	u->rows.keys = calloc(cells, sizeof(*u->rows.keys));
	u->row = calloc(n, sizeof(*u->row));
	u->group = calloc(n, sizeof(*u->group));
	u->result = calloc(n, sizeof(void *));
	return u->rows.keys != NULL && u->row != NULL && u->group != NULL &&
	       u->result != NULL;
}

static void sort_rows(struct unique *u)
{
	struct rows *rows = &u->rows;
	const struct msd_dtype dtype = rows->t->dtype;
	const enum msd_number_kind kind = msd_number_kind(dtype);
	const void *data = msd_dltensor_at(rows->t);

	for (int64_t r = 0; r < rows->n; r++) {
		int64_t *key = rows->keys + r * rows->width;

		for (int64_t i = 0; i < rows->width; i++) {
			const int64_t at = element_at(rows, r, i);
			key[i] = msd_number_key(kind, msd_number_load(dtype, data, at));
			if (rows->nan_is_first && key[i] == MSD_KEY_NAN)
				key[i] = KEY_FIRST;
		}
		u->row[r] = (struct row){.index = r, .key = key, .width = rows->width};
	}
	qsort(u->row, (size_t)rows->n, sizeof(*u->row), by_key);
}

static void group_rows(struct unique *u)
{
	for (int64_t i = 0; i < u->rows.n; i++) {
		if (i == 0 || !is_same(&u->rows, &u->row[i - 1], &u->row[i]))
			u->group[u->n_groups++].first = u->row[i].index;
		u->row[i].group = u->n_groups - 1;
		u->group[u->n_groups - 1].count++;
	}
	for (int64_t g = 0; g < u->n_groups; g++)
		u->result[g] = &u->group[g];
	if (!u->sorted)
		qsort((void *)u->result, (size_t)u->n_groups, sizeof(void *), by_first);
	for (int64_t g = 0; g < u->n_groups; g++)
		u->result[g]->rank = g;
}

static struct msd_tensor *unique_values(const struct unique *u)
{
	const struct rows *rows = &u->rows;
	const struct msd_dltensor *t = rows->t;
	const size_t size = (t->dtype.bits + 7u) / 8;
	int64_t shape[MSD_MAX_NDIM] = {u->n_groups};

	for (int32_t i = 0; rows->axis >= 0 && i < t->ndim; i++)
		shape[i] = i == rows->axis ? u->n_groups : t->shape[i];
	struct msd_tensor *out =
		msd_tensor_new(t->dtype, shape, rows->axis < 0 ? 1 : (size_t)t->ndim);
	if (out == NULL)
		return NULL;
	struct rows to = *rows;
	to.n = u->n_groups;
	for (int64_t g = 0; g < u->n_groups; g++) {
		for (int64_t i = 0; i < rows->width; i++) {
			memcpy((char *)out->dl.data +
				       (size_t)element_at(&to, g, i) * size,
			       (char *)msd_dltensor_at(t) +
				       (size_t)element_at(rows, u->result[g]->first,
							  i) *
					       size,
			       size);
		}
	}
	return out;
}

enum column { FIRST, INVERSE, COUNTS };

static struct msd_tensor *unique_column(const struct unique *u, enum column which)
{
	const struct rows *rows = &u->rows;
	const bool is_shaped = which == INVERSE && rows->axis < 0;
	const int64_t *shape = &u->n_groups;

	if (which == INVERSE)
		shape = is_shaped ? rows->t->shape : &rows->n;
	struct msd_tensor *out =
		msd_tensor_new(int64, shape, is_shaped ? (size_t)rows->t->ndim : 1);
	if (out == NULL)
		return NULL;
	int64_t *to = out->dl.data;
	for (int64_t i = 0; which == INVERSE && i < rows->n; i++)
		to[u->row[i].index] = u->group[u->row[i].group].rank;
	for (int64_t g = 0; which != INVERSE && g < u->n_groups; g++)
		to[g] = which == FIRST ? u->result[g]->first : u->result[g]->count;
	return out;
}

/* The values, or a tuple of them and the outputs that @wanted selects. */
static struct msd_obj *unique_result(const struct unique *u, const int64_t wanted[3])
{
	struct msd_tensor *t = unique_values(u);
	struct msd_array *tuple;
	int64_t at = 0;

	if (t == NULL || (wanted[FIRST] | wanted[INVERSE] | wanted[COUNTS]) == 0)
		return t != NULL ? &t->obj : NULL;
	tuple = msd_array_new(1 + (size_t)(wanted[FIRST] != 0) +
			      (size_t)(wanted[INVERSE] != 0) +
			      (size_t)(wanted[COUNTS] != 0));
	if (tuple == NULL) {
		msd_obj_unref(&t->obj);
		return NULL;
	}
	tuple->items[at++] = msd_of_obj(&t->obj);
	for (int c = FIRST; c <= COUNTS; c++) {
		if (wanted[c] == 0)
			continue;
		t = unique_column(u, (enum column)c);
		if (t == NULL) {
			msd_obj_unref(&tuple->obj);
			return NULL;
		}
		tuple->items[at++] = msd_of_obj(&t->obj);
	}
	return &tuple->obj;
}

/* (x, sorted, return_index, return_inverse, return_counts[, axis or None]) -> values,
 * or a tuple of the values and the requested outputs */
static int unique(void *self, const struct msd_any *args, int32_t n,
		  struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct unique u = {0};
	struct msd_dltensor *t;
	int64_t wanted[3];
	int64_t sorted;
	int64_t axis = 0;
	struct msd_obj *result = NULL;
	(void)self;

	if (!msd_args_count(a, 5, 6) || !number_tensor(a, 0, &t) ||
	    !msd_args_int(a, 1, &sorted))
		return -1;
	for (int32_t i = 0; i < 3; i++) {
		if (!msd_args_int(a, 2 + i, &wanted[i]))
			return -1;
	}
	const bool has_axis = n == 6 && args[5].type != MSD_T_NONE;
	if ((has_axis && !msd_args_int(a, 5, &axis)) ||
	    !rows_open(t, axis, has_axis, &u.rows))
		return -1;
	u.sorted = sorted != 0;
	if (unique_alloc(&u)) {
		sort_rows(&u);
		group_rows(&u);
		result = unique_result(&u, wanted);
	}
	unique_finish(&u);
	return msd_return_obj(result, ret);
}

const struct msd_global msd_globals_set[] = MSD_GLOBAL_TABLE(MSD_PACKED_SET);
