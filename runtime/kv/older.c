/*
 * The older cache. Normal path: rows are appended, and the memory doubles when it is
 * full; or, with a window, new rows replace the oldest ones behind the sinks. Failures:
 * rows of another type or size, counts beyond the filled rows, short memory.
 */
#include "runtime/kv/older.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kv/state.h"
#include "runtime/value/error.h"

static void older_delete(void *self, int flags)
{
	struct msd_kv_older *c = self;

	if ((flags & MSD_STRONG_GONE) != 0 && c->data != NULL)
		msd_obj_unref(&c->data->obj);
	if ((flags & MSD_WEAK_GONE) != 0)
		free(c);
}

struct msd_kv_older *msd_kv_older_of(const struct msd_any *v)
{
	if (v->type < MSD_T_DYNAMIC || v->as.obj->deleter != older_delete)
		return NULL;
	return (struct msd_kv_older *)(void *)v->as.obj;
}

/* Bytes of one row. */
static size_t row_bytes(const struct msd_dltensor *t)
{
	struct msd_dltensor row = *t;

	row.ndim--;
	row.shape++;
	return msd_dltensor_bytes(&row);
}

static char *row_at(const struct msd_kv_older *c, int64_t i)
{
	return (char *)c->data->dl.data + (size_t)i * row_bytes(&c->data->dl);
}

/* Rows of the same type and size as those of the cache. */
static int rows_check(const struct msd_kv_older *c, const struct msd_dltensor *v)
{
	const struct msd_dltensor *t = &c->data->dl;
	bool is_good = v->ndim == t->ndim && msd_dtype_eq(v->dtype, t->dtype);

	for (int32_t i = 1; is_good && i < t->ndim; i++)
		is_good = v->shape[i] == t->shape[i];
	if (is_good)
		return 0;
	return msd_abi_raise("ValueError",
			     "the value differs from the cache in type or shape");
}

/* Room for @n rows. The old memory stays as long as views of it. */
static int reserve(struct msd_kv_older *c, int64_t n)
{
	const struct msd_dltensor *t = &c->data->dl;
	int64_t shape[MSD_MAX_NDIM];
	struct msd_tensor *grown;

	if (n <= t->shape[0])
		return 0;
	memcpy(shape, t->shape, (size_t)t->ndim * sizeof(*shape));
	shape[0] = shape[0] > 0 ? shape[0] : 1;
	while (shape[0] < n) {
		if (__builtin_mul_overflow(shape[0], 2, &shape[0]))
			return msd_abi_no_memory();
	}
	grown = msd_tensor_new(t->dtype, shape, (size_t)t->ndim);
	if (grown == NULL) {
		return msd_abi_raise_code(
			MSD_NOMEM, "out of memory for a cache of %" PRId64 " rows",
			shape[0]);
	}
	memcpy(grown->dl.data, t->data, msd_dltensor_bytes(t));
	msd_obj_unref(&c->data->obj);
	c->data = grown;
	return 0;
}

/* Copy rows @from to @from + @n - 1 of @v to row @to. */
static void rows_copy(struct msd_kv_older *c, int64_t to, const struct msd_dltensor *v,
		      int64_t from, int64_t n)
{
	const size_t bytes = row_bytes(v);

	if (n > 0 && bytes > 0) {
		memmove(row_at(c, to),
			(const char *)v->data + v->byte_offset + (size_t)from * bytes,
			(size_t)n * bytes);
	}
}

int msd_kv_older_append(struct msd_kv_older *c, const struct msd_dltensor *v)
{
	int64_t n;

	if (rows_check(c, v) != 0)
		return -1;
	if (__builtin_add_overflow(c->n, v->shape[0], &n))
		return msd_abi_no_memory();
	if (reserve(c, n) != 0)
		return -1;
	rows_copy(c, c->n, v, 0, v->shape[0]);
	c->n = n;
	return 0;
}

int msd_kv_older_new(const struct msd_dltensor *init, const struct msd_shape *shape,
		     int64_t n, struct msd_any *ret)
{
	struct msd_kv_older *c;

	if (shape->ndim < 1 || shape->ndim > MSD_MAX_NDIM ||
	    (int32_t)shape->ndim != init->ndim || shape->dim[0] < 1) {
		return msd_abi_raise(
			"ValueError",
			"the shape of the cache does not fit its first value");
	}
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return msd_abi_no_memory();
	msd_obj_init(&c->obj, msd_kv_type(MSD_KV_OLDER), older_delete);
	c->data = msd_tensor_new(init->dtype, shape->dim, shape->ndim);
	if (c->data == NULL) {
		msd_obj_unref(&c->obj);
		return msd_abi_no_memory();
	}
	int rc = msd_kv_older_append(c, init);
	if (rc == 0 && n > c->data->dl.shape[0]) {
		rc = msd_abi_raise("ValueError",
				   "%" PRId64 " rows are to be filled, the cache has "
				   "%" PRId64,
				   n, c->data->dl.shape[0]);
	}
	if (rc != 0) {
		msd_obj_unref(&c->obj);
		return -1;
	}
	if (n >= 0)
		c->n = c->next = n;
	*ret = msd_of_obj(&c->obj);
	return 0;
}

int msd_kv_older_update(struct msd_kv_older *c, const struct msd_dltensor *v)
{
	if (rows_check(c, v) != 0)
		return -1;
	if (v->shape[0] != c->n) {
		return msd_abi_raise("ValueError",
				     "the value has %" PRId64
				     " rows, the cache %" PRId64,
				     v->shape[0], c->n);
	}
	rows_copy(c, 0, v, 0, c->n);
	return 0;
}

int msd_kv_older_override(struct msd_kv_older *c, const struct msd_dltensor *v,
			  int64_t max, int64_t sinks)
{
	if (rows_check(c, v) != 0)
		return -1;
	const int64_t n = v->shape[0];
	if (sinks < 0 || sinks > max || n > max - sinks || c->next > max) {
		return msd_abi_raise("ValueError",
				     "%" PRId64 " rows do not fit a window of %" PRId64
				     " rows, %" PRId64 " of which stay",
				     n, max, sinks);
	}
	const int64_t head = n < max - c->next ? n : max - c->next;
	const int64_t filled = c->n > max - n ? max : c->n + n;
	if (head < n && filled != max) {
		return msd_abi_raise("ValueError",
				     "the window turns, but only %" PRId64
				     " of %" PRId64 " rows are filled",
				     filled, max);
	}
	const int64_t end =
		c->next + head > sinks + n - head ? c->next + head : sinks + n - head;
	if (reserve(c, end > filled ? end : filled) != 0)
		return -1;
	rows_copy(c, c->next, v, 0, head);
	rows_copy(c, sinks, v, head, n - head);
	c->n = filled;
	c->next = head < n ? sinks + n - head : c->next + n;
	return 0;
}

int msd_kv_older_view(const struct msd_kv_older *c, const struct msd_shape *shape,
		      struct msd_any *ret)
{
	const struct msd_dltensor *t = &c->data->dl;
	int64_t dim[MSD_MAX_NDIM];
	bool is_good = shape == NULL || (int32_t)shape->ndim == t->ndim;
	struct msd_tensor *view;

	memcpy(dim, t->shape, (size_t)t->ndim * sizeof(*dim));
	dim[0] = c->n;
	for (int32_t i = 0; is_good && shape != NULL && i < t->ndim; i++)
		is_good = shape->dim[i] == dim[i];
	if (!is_good) {
		return msd_abi_raise("ValueError",
				     "the shape differs from the %" PRId64
				     " rows of the cache",
				     c->n);
	}
	view = msd_tensor_view(t->data, t->device, t->dtype, dim, (size_t)t->ndim,
			       &c->data->obj, NULL, NULL);
	if (view == NULL)
		return msd_abi_no_memory();
	*ret = msd_of_obj(&view->obj);
	return 0;
}

int msd_kv_older_pop(struct msd_kv_older *c, int64_t n)
{
	if (n < 0 || n > c->n) {
		return msd_abi_raise("ValueError",
				     "the cache has %" PRId64 " rows: %" PRId64
				     " cannot be removed",
				     c->n, n);
	}
	c->n -= n;
	return 0;
}

void msd_kv_older_clear(struct msd_kv_older *c)
{
	c->n = 0;
	c->next = 0;
}
