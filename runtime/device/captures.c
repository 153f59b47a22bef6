/*
 * Happy path: a region that is new runs, is captured, and its graph is kept with what
 * it gave; when it comes again, the graph is launched. Failures: what cannot be
 * captured is kept as such, and the reason told (msd_captures_counted()); a device that
 * is lost is an error.
 */
#include "runtime/device/captures.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/value/error.h"

struct kept {
	int64_t index;
	struct msd_shape *extents;   /* owned; NULL: what is kept of an index alone */
	struct msd_any result;       /* owned */
	struct msd_dev_graph *graph; /* NULL: it runs each time */
};

struct msd_captures {
	struct msd_dev *dev;
	uint32_t n;
	struct kept kept[MSD_MAX_CAPTURES];
};

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static struct msd_captures_count count;

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
}

struct msd_captures *msd_captures_new(struct msd_dev *dev)
{
	struct msd_captures *c = calloc(1, sizeof(*c));

	if (c != NULL)
		c->dev = dev;
	return c;
}

void msd_captures_free(struct msd_captures *c)
{
	if (c == NULL)
		return;
	for (uint32_t i = 0; i < c->n; i++) {
		struct kept *k = &c->kept[i];
		if (k->graph != NULL)
			c->dev->ops->graph_free(k->graph);
		if (k->extents != NULL)
			msd_obj_unref(&k->extents->obj);
		msd_any_drop(&k->result);
	}
	free(c);
}

static struct kept *find(struct msd_captures *c, const struct msd_region *r,
			 bool by_extents)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct kept *k = &c->kept[i];
		if (k->index != r->index || (k->extents != NULL) != by_extents)
			continue;
		if (!by_extents || (k->extents->ndim == r->n_extents &&
				    (r->n_extents == 0 ||
				     memcmp(k->extents->dim, r->extents,
					    r->n_extents * sizeof(*r->extents)) == 0)))
			return k;
	}
	return NULL;
}

static int no_memory(struct msd_any *ret)
{
	msd_any_drop(ret);
	return msd_abi_no_memory();
}

/* The region's second run, of which the device does nothing: the graph, and what it
 * gave. An error tells why there is none. */
static msd_err capture(struct msd_captures *c, const struct msd_region *r,
		       struct kept *ret, struct msd_diag *d)
{
	const struct msd_device_ops *ops = c->dev->ops;
	struct msd_any result = msd_none();
	msd_err err = ops->capture_begin(c->dev, d);

	if (err != MSD_OK)
		return err;
	const int rc = r->run(r->ctx, &result);
	if (rc != 0)
		err = msd_abi_take(d);
	struct msd_diag ignored = {0};
	const msd_err ended = ops->capture_end(c->dev, rc == 0 ? &ret->graph : NULL,
					       rc == 0 ? d : &ignored);
	msd_diag_finish(&ignored);
	err = rc == 0 ? ended : err;
	if (err == MSD_OK && ret->graph != NULL) {
		ret->result = result;
	} else {
		msd_any_drop(&result);
	}
	return err;
}

/* It ran, and @ret is what it gave. */
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
		msd_obj_unref(&k.extents->obj);
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
	const struct kept *k = find(c, r, true);

	if (k != NULL && k->graph != NULL)
		return launch(c, k, ret);
	const int rc = r->run(r->ctx, ret);
	/* Within another one's capture it is a part of that. */
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
