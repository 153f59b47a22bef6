/*
 * Happy path: a new region runs, is captured, and its graph is kept with its result;
 * at the next call the graph is launched. Failures: a region that cannot be captured
 * is recorded as such, with the reason (msd_captures_counted()); a lost device is an
 * error.
 */
#include "runtime/device/captures.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/value/error.h"

/* A tensor or storage is identified by its address, a number by itself. */
struct kept_arg {
	int32_t type;
	uint64_t where;
	struct msd_shape *shape; /* a shape; owned */
};

struct kept {
	int64_t index;
	struct msd_shape
		*extents; /* owned; NULL: the entry is identified by its index only */
	struct msd_any result;       /* owned */
	struct msd_dev_graph *graph; /* NULL: the region runs each time */
	struct kept_arg *args;       /* owned: arguments of the capture */
	size_t n_args;
	bool has_others; /* it was called with other arguments; this has been counted */
};

struct msd_captures {
	struct msd_dev *dev;
	uint32_t n;
	struct kept kept[MSD_MAX_CAPTURES];
};

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static struct msd_captures_count count;
static _Atomic bool has_failed;

bool msd_captures_has_failed(void)
{
	return atomic_load_explicit(&has_failed, memory_order_relaxed);
}

void msd_captures_counted(struct msd_captures_count *ret)
{
	(void)pthread_mutex_lock(&count_lock);
	*ret = count;
	(void)pthread_mutex_unlock(&count_lock);
}

static void note(uint64_t *n, const char *why)
{
	(void)pthread_mutex_lock(&count_lock);
	(*n)++;
	if (why != NULL && count.why[0] == '\0')
		(void)snprintf(count.why, sizeof(count.why), "%s", why);
	(void)pthread_mutex_unlock(&count_lock);
	if (why != NULL)
		atomic_store_explicit(&has_failed, true, memory_order_relaxed);
}

struct msd_captures *msd_captures_new(struct msd_dev *dev)
{
	struct msd_captures *c = calloc(1, sizeof(*c));

	if (c != NULL)
		c->dev = dev;
	return c;
}

static void kept_finish(struct kept *k)
{
	for (size_t i = 0; i < k->n_args; i++) {
		if (k->args[i].shape != NULL)
			msd_obj_unref(&k->args[i].shape->obj);
	}
	free(k->args);
	if (k->extents != NULL)
		msd_obj_unref(&k->extents->obj);
	msd_any_drop(&k->result);
}

void msd_captures_free(struct msd_captures *c)
{
	if (c == NULL)
		return;
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->kept[i].graph != NULL)
			c->dev->ops->graph_free(c->kept[i].graph);
		kept_finish(&c->kept[i]);
	}
	free(c);
}

static bool is_shape(const struct msd_shape *s, const int64_t *dim, size_t n)
{
	return s->ndim == n && (n == 0 || memcmp(s->dim, dim, n * sizeof(*dim)) == 0);
}

/* Identify an argument. False if it cannot be compared with another one. */
static bool arg_of(const struct msd_any *v, struct kept_arg *ret)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);

	*ret = (struct kept_arg){.type = t != NULL ? MSD_T_TENSOR : v->type};
	if (t != NULL) {
		ret->where = (uint64_t)(uintptr_t)t->data + t->byte_offset;
	} else if (v->type == MSD_T_STORAGE) {
		const struct msd_storage *s = v->as.p;
		ret->where = (uint64_t)(uintptr_t)s->data;
	} else if (v->type == MSD_T_SHAPE) {
		ret->shape = v->as.p;
	} else if (v->type == MSD_T_INT || v->type == MSD_T_BOOL ||
		   v->type == MSD_T_FLOAT) {
		ret->where = (uint64_t)v->as.i;
	} else if (v->type != MSD_T_NONE) {
		return false;
	}
	return true;
}

static bool has_same_args(const struct kept *k, const struct msd_region *r)
{
	bool is_same = k->n_args == r->n_args;

	for (size_t i = 0; is_same && i < r->n_args; i++) {
		const struct kept_arg *kept = &k->args[i];
		struct kept_arg arg;
		is_same = arg_of(&r->args[i], &arg) && arg.type == kept->type &&
			  arg.where == kept->where &&
			  (arg.shape == NULL ||
			   is_shape(kept->shape, arg.shape->dim, arg.shape->ndim));
	}
	return is_same;
}

static msd_err keep_args(const struct msd_region *r, struct kept *ret,
			 struct msd_diag *d)
{
	ret->args = calloc(r->n_args + 1, sizeof(*ret->args));
	if (ret->args == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < r->n_args; i++) {
		if (!arg_of(&r->args[i], &ret->args[i])) {
			return msd_diag_set(d, MSD_UNSUPPORTED,
					    "argument %zu is no tensor and no number",
					    i);
		}
		if (ret->args[i].shape != NULL)
			msd_obj_ref(&ret->args[i].shape->obj);
		ret->n_args++;
	}
	return MSD_OK;
}

static struct kept *find(struct msd_captures *c, const struct msd_region *r,
			 bool by_extents)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct kept *k = &c->kept[i];
		if (k->index != r->index || (k->extents != NULL) != by_extents)
			continue;
		if (!by_extents || is_shape(k->extents, r->extents, r->n_extents))
			return k;
	}
	return NULL;
}

static int no_memory(struct msd_any *ret)
{
	msd_any_drop(ret);
	return msd_abi_no_memory();
}

/* Run the region a second time while capturing, so the device executes nothing.
 * Returns the graph and the result. An error gives the reason why there is no graph. */
static msd_err capture(struct msd_captures *c, const struct msd_region *r,
		       struct kept *ret, struct msd_diag *d)
{
	const struct msd_device_ops *ops = c->dev->ops;
	struct msd_any result = msd_none();
	msd_err err = keep_args(r, ret, d);

	if (err == MSD_OK)
		err = ops->capture_begin(c->dev, d);
	if (err != MSD_OK)
		return err;
	if (r->run(r->ctx, &result) != 0) {
		err = msd_abi_fetch_error(d);
		(void)ops->capture_end(c->dev, NULL, NULL);
	} else {
		err = ops->capture_end(c->dev, &ret->graph, d);
	}
	if (ret->graph != NULL) {
		ret->result = result;
	} else {
		msd_any_drop(&result);
	}
	return err;
}

/* Called after the region ran with the result @ret. */
static int capture_or_note(struct msd_captures *c, const struct msd_region *r,
			   struct msd_any *ret)
{
	struct kept k = {.index = r->index, .result = msd_none()};
	struct msd_diag d = {0};

	k.extents = msd_shape_new(r->extents, r->n_extents);
	if (k.extents == NULL)
		return no_memory(ret);
	const msd_err err = capture(c, r, &k, &d);
	if (err == MSD_GPU_FAULT) {
		kept_finish(&k);
		msd_any_drop(ret);
		(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
		msd_diag_finish(&d);
		return -1;
	}
	if (k.graph != NULL) {
		note(&count.captured, NULL);
	} else {
		note(&count.uncaptured,
		     err != MSD_OK ? msd_diag_text(&d) : "it asks the device nothing");
	}
	msd_diag_finish(&d);
	c->kept[c->n++] = k;
	return 0;
}

static int launch(struct msd_captures *c, const struct kept *k, struct msd_any *ret)
{
	struct msd_diag d = {0};
	const msd_err err = c->dev->ops->graph_launch(k->graph, &d);

	if (err != MSD_OK) {
		(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
		msd_diag_finish(&d);
		return -1;
	}
	note(&count.launched, NULL);
	return msd_any_copy(&k->result, ret) ? 0 : no_memory(ret);
}

int msd_captures_run(struct msd_captures *c, const struct msd_region *r,
		     struct msd_any *ret)
{
	struct kept *k = find(c, r, true);

	if (k != NULL && k->graph != NULL && has_same_args(k, r))
		return launch(c, k, ret);
	if (k != NULL && k->graph != NULL && !k->has_others) {
		k->has_others = true;
		note(&count.uncaptured, "its arguments lie elsewhere than before");
	}
	const int rc = r->run(r->ctx, ret);
	/* A region inside another capture becomes part of that graph. */
	if (rc != 0 || k != NULL || c->n == MSD_MAX_CAPTURES || c->dev->is_capturing)
		return rc;
	return capture_or_note(c, r, ret);
}

int msd_captures_keep(struct msd_captures *c, const struct msd_region *r,
		      struct msd_any *ret)
{
	const struct kept *k = find(c, r, false);

	if (k != NULL)
		return msd_any_copy(&k->result, ret) ? 0 : no_memory(ret);
	const int rc = r->run(r->ctx, ret);
	if (rc != 0 || c->n == MSD_MAX_CAPTURES)
		return rc;
	struct kept fresh = {.index = r->index, .result = msd_none()};
	if (!msd_any_copy(ret, &fresh.result))
		return no_memory(ret);
	c->kept[c->n++] = fresh;
	return 0;
}
