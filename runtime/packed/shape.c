/*
 * Symbolic shapes. A VM function stores its symbolic extents in a heap of int64
 * cells: match_shape fills it from the arguments and make_shape reads it. Each extent
 * is a code and a value.
 */
#include <inttypes.h>
#include <stdio.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

enum match_code {
	MATCH_IMM = 0,   /* the extent is the value */
	MATCH_STORE = 1, /* heap[value] = extent */
	MATCH_SKIP = 2,
	MATCH_HEAP = 3, /* the extent is heap[value] */
};
enum make_code { MAKE_IMM = 0, MAKE_HEAP = 1 };

struct heap {
	int64_t *cell; /* NULL if the function has no symbolic extents */
	int64_t n;
};

static bool heap_open(struct msd_args a, int32_t i, struct heap *ret)
{
	struct msd_dltensor *t;

	*ret = (struct heap){NULL, 0};
	if (a.v[i].type == MSD_T_NONE)
		return true;
	if (!msd_args_host_tensor(a, i, &t))
		return false;
	if (t->ndim != 1 || t->dtype.code != MSD_DT_INT || t->dtype.bits != 64) {
		return msd_args_refuse(a, i, "a shape heap (int64, one dimension)") ==
		       0;
	}
	*ret = (struct heap){msd_dltensor_at(t), t->shape[0]};
	return true;
}

/* The cell, or NULL with the error raised. Indices are immediates of the bytecode. */
static int64_t *heap_at(struct heap h, int64_t i)
{
	if (i >= 0 && i < h.n)
		return &h.cell[i];
	(void)msd_abi_raise("InternalError",
			    "shape heap index %" PRId64 " is outside 0..%" PRId64, i,
			    h.n - 1);
	return NULL;
}

/* Details for a mismatch error: the compiler's context and the position. */
struct place {
	struct msd_span ctx;
	int64_t dim; /* -1: a single value, not an extent */
};

static struct place place_of(struct msd_args a, int32_t ctx)
{
	struct place p = {{(const uint8_t *)"", 0}, -1};

	if (ctx < a.n && !msd_any_str(&a.v[ctx], &p.ctx))
		p.ctx.n = 0;
	while (p.ctx.n > 0 && p.ctx.p[p.ctx.n - 1] == ' ')
		p.ctx.n--;
	return p;
}

static int mismatch(const struct place *p, const char *to, int64_t want, int64_t got)
{
	char what[48] = "value";

	if (p->dim >= 0)
		(void)snprintf(what, sizeof(what), "shape[%" PRId64 "]", p->dim);
	return msd_abi_raise("RuntimeError",
			     "%.*s match_cast error, %s mismatch to %s: expect %" PRId64
			     " but get %" PRId64,
			     (int)p->ctx.n, (const char *)p->ctx.p, what, to, want,
			     got);
}

static int match_one(struct heap h, int64_t got, int64_t code, int64_t value,
		     const struct place *p)
{
	int64_t *cell;

	switch (code) {
	case MATCH_SKIP:
		return 0;
	case MATCH_IMM:
		if (got == value)
			return 0;
		return mismatch(p, "specified constant", value, got);
	case MATCH_STORE:
		cell = heap_at(h, value);
		if (cell == NULL)
			return -1;
		*cell = got;
		return 0;
	case MATCH_HEAP:
		cell = heap_at(h, value);
		if (cell == NULL)
			return -1;
		if (*cell == got)
			return 0;
		return mismatch(p, "a previous populated value", *cell, got);
	default:
		return msd_abi_raise("InternalError", "unknown match code %" PRId64,
				     code);
	}
}

/* Extents of the tensor or shape in argument 0. */
static bool extents_of(struct msd_args a, const int64_t **ret_dim, int64_t *ret_n)
{
	const struct msd_dltensor *t = msd_any_dltensor(&a.v[0]);

	if (t != NULL) {
		*ret_dim = t->shape;
		*ret_n = t->ndim;
		return true;
	}
	if (a.v[0].type != MSD_T_SHAPE) {
		(void)msd_args_refuse(a, 0, "a tensor or a shape");
		return false;
	}
	const struct msd_shape *s =
		(const struct msd_shape *)(const void *)a.v[0].as.obj;
	*ret_dim = s->dim;
	*ret_n = (int64_t)s->ndim;
	return true;
}

/* (tensor or shape, heap or None, n, (code, value) * n, context) */
static int match_shape(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct msd_args a = {args, n};
	const int64_t *dim;
	int64_t ndim;
	int64_t size;
	struct heap h;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 3, -1) || !extents_of(a, &dim, &ndim) ||
	    !heap_open(a, 1, &h) || !msd_args_int(a, 2, &size))
		return -1;
	if (size < 0 || size > (n - 3) / 2)
		return msd_abi_raise("InternalError", "fewer codes than dimensions");
	struct place p = place_of(a, 3 + 2 * (int32_t)size);
	if (ndim != size) {
		return msd_abi_raise(
			"RuntimeError",
			"%.*s match_cast shape size mismatch: expect %" PRId64
			" dimensions but get %" PRId64,
			(int)p.ctx.n, (const char *)p.ctx.p, size, ndim);
	}
	for (int32_t i = 0; i < (int32_t)size; i++) {
		int64_t code;
		int64_t value;

		if (!msd_args_int(a, 3 + 2 * i, &code) ||
		    !msd_args_int(a, 4 + 2 * i, &value))
			return -1;
		p.dim = i;
		if (match_one(h, dim[i], code, value, &p) != 0)
			return -1;
	}
	return 0;
}

/* (value, heap, code, value, context) */
static int match_prim_value(void *self, const struct msd_any *args, int32_t n,
			    struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t got;
	int64_t code;
	int64_t value;
	struct heap h;
	(void)self;
	(void)ret;

	if (!msd_args_count(a, 4, 5) || !msd_args_int(a, 0, &got) ||
	    !heap_open(a, 1, &h) || !msd_args_int(a, 2, &code) ||
	    !msd_args_int(a, 3, &value))
		return -1;
	struct place p = place_of(a, 4);
	return match_one(h, got, code, value, &p);
}

static bool make_one(struct msd_args a, struct heap h, int32_t at, int64_t *ret)
{
	int64_t code;
	int64_t value;
	const int64_t *cell;

	if (!msd_args_int(a, at, &code) || !msd_args_int(a, at + 1, &value))
		return false;
	if (code == MAKE_IMM) {
		*ret = value;
		return true;
	}
	if (code != MAKE_HEAP) {
		(void)msd_abi_raise("InternalError", "unknown shape code %" PRId64,
				    code);
		return false;
	}
	cell = heap_at(h, value);
	if (cell == NULL)
		return false;
	*ret = *cell;
	return true;
}

/* (heap or None, n, (code, value) * n) -> shape */
static int make_shape(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	struct msd_args a = {args, n};
	int64_t dim[MSD_MAX_NDIM];
	int64_t size;
	struct heap h;
	(void)self;

	if (!msd_args_count(a, 2, -1) || !heap_open(a, 0, &h) ||
	    !msd_args_int(a, 1, &size))
		return -1;
	if (size < 0 || size > (n - 2) / 2)
		return msd_abi_raise("InternalError", "fewer codes than dimensions");
	if (size > MSD_MAX_NDIM) {
		return msd_abi_raise("ValueError",
				     "a shape of %" PRId64 " dimensions: at most %d",
				     size, MSD_MAX_NDIM);
	}
	for (int32_t i = 0; i < (int32_t)size; i++) {
		if (!make_one(a, h, 2 + 2 * i, &dim[i]))
			return -1;
	}
	struct msd_shape *s = msd_shape_new(dim, (size_t)size);
	return msd_return_obj(s != NULL ? &s->obj : NULL, ret);
}

/* (heap or None, code, value) -> int */
static int make_prim_value(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct heap h;
	int64_t v;
	(void)self;

	if (!msd_args_count(a, 3, 3) || !heap_open(a, 0, &h) || !make_one(a, h, 1, &v))
		return -1;
	*ret = msd_int(v);
	return 0;
}

const struct msd_global msd_globals_shape[] = MSD_GLOBAL_TABLE(MSD_PACKED_SHAPE);
