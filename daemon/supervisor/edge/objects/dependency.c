/*
 * Happy path: msd_dependency_new() appends a use to the queue of each named future;
 * ready; write; destroy, which lets the next use in each queue proceed.
 *
 * Failures: an unknown result is rejected at once. If a future failed, each request
 * that is written with it fails with the same text, however long the chain.
 */
#include <stdlib.h>

#include "daemon/supervisor/edge/objects/future_parts.h"
#include "proto/body.h"
#include "proto/limits.h"
#include "proto/result_of.h"
#include "proto/value.h"

static bool awaits(const struct msd_dependency *a, const struct msd_future *one)
{
	for (uint32_t i = 0; i < a->n_uses; i++) {
		if (a->uses[i].of == one)
			return true;
	}
	return false;
}

static msd_err await(struct msd_dependency *a, uint64_t by, uint64_t id,
		     struct msd_diag *d)
{
	struct msd_future *one = msd_future_find(a->all, id);

	if (id == by) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "request %llu names its own result",
				    (unsigned long long)id);
	}
	if (one == NULL) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"the result of request %llu is unknown: no earlier request of "
			"this connection had that id and the option `promised`, or %u "
			"of them were answered since",
			(unsigned long long)id, MSD_MAX_RESULTS_KEPT);
	}
	if (awaits(a, one))
		return MSD_OK;
	struct msd_dependency_use *u = &a->uses[a->n_uses++];
	const bool is_first = msd_list_is_empty(&one->line);
	*u = (struct msd_dependency_use){.of = one, .by = a};
	msd_list_append(&one->line, &u->link);
	if (is_first && one->is_settled) {
		a->all->n_idle--;
	} else {
		a->n_missing++;
	}
	return MSD_OK;
}

msd_err msd_dependency_new(struct msd_futures *p, uint64_t id, struct msd_span body,
			   uint32_t n_results, struct msd_dependency **ret,
			   struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(body);
	struct msd_result_of r;
	struct msd_span before;
	msd_err err = MSD_OK;

	if (n_results > MSD_MAX_RESULTS_NAMED) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "the request names %u results of earlier requests, "
				    "at most %u are allowed",
				    n_results, MSD_MAX_RESULTS_NAMED);
	}
	/* One allocation: the uses follow the head. */
	struct msd_dependency *a =
		calloc(1, sizeof(*a) + n_results * sizeof(a->uses[0]));
	if (a == NULL)
		return msd_diag_no_memory(d);
	msd_list_init(&a->link);
	a->all = p;
	a->uses = (struct msd_dependency_use *)(a + 1);
	while (err == MSD_OK && msd_result_of_next(&c, &before, &r))
		err = await(a, id, r.id, d);
	if (err == MSD_OK) {
		*ret = a;
	} else {
		msd_dependency_destroy(a);
	}
	return err;
}

/* Remove the use from the queue. The next use may have waited for that. */
static void leave(struct msd_futures *p, struct msd_dependency_use *u)
{
	struct msd_future *one = u->of;
	const bool was_first = msd_future_first(one) == u;

	msd_list_remove(&u->link);
	if (!one->is_settled || !was_first)
		return;
	const struct msd_dependency_use *next = msd_future_first(one);
	if (next != NULL) {
		msd_future_came(p, next->by);
	} else {
		msd_future_rest(p);
	}
}

void msd_dependency_destroy(struct msd_dependency *a)
{
	if (a == NULL)
		return;
	msd_list_remove(&a->link);
	for (uint32_t i = 0; i < a->n_uses; i++)
		leave(a->all, &a->uses[i]);
	free(a);
}

struct msd_dependency *msd_futures_ready(struct msd_futures *p)
{
	struct msd_list *it = msd_list_first(&p->ready);

	return it != NULL ? MSD_CONTAINER_OF(it, struct msd_dependency, link) : NULL;
}

static const struct msd_future *promise_of(const struct msd_dependency *a, uint64_t id)
{
	uint32_t i = 0;

	while (a->uses[i].of->id != id) /* always found: the body is the same */
		i++;
	return a->uses[i].of;
}

/* Its bytes were sent with another frame and no longer exist. */
static msd_err refuse_inline(void *ctx, int8_t type, size_t at, size_t n,
			     struct msd_diag *d)
{
	const struct msd_span *value = ctx;

	(void)n;
	if (type != MSD_EXT_TENSOR || value->p[at] == MSD_AT_RESIDENT)
		return MSD_OK;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "is a tensor that was sent to the client: write it to a "
			    "tensor of tensor.alloc, and name that");
}

static msd_err write_value(const struct msd_dependency *a,
			   const struct msd_result_of *r, struct msd_buf *ret,
			   struct msd_diag *d)
{
	const struct msd_future *one = promise_of(a, r->id);
	struct msd_span value = {one->value.p, one->value.n};
	struct msd_ext_visitor visitor = {.visit = refuse_inline, .ctx = &value};
	size_t used;

	if (one->why.code != MSD_OK) {
		(void)msd_diag_set(d, one->why.code, "%s", msd_diag_text(&one->why));
		d->retry_after_ms = one->why.retry_after_ms;
		d->hint = one->why.hint;
		a->all->is_passed_on = true;
		return one->is_passed_on
			       ? d->code
			       : msd_diag_wrap(d, d->code,
					       "the result of request %llu (%s) is "
					       "needed",
					       (unsigned long long)one->id,
					       one->method);
	}
	msd_err err = msd_result_of_pick(r, value, &value, d);
	if (err != MSD_OK)
		return err;
	err = msd_scan_object(value, &visitor, &used, d);
	if (err != MSD_OK) {
		return msd_diag_wrap(d, err, "the result of request %llu (%s)",
				     (unsigned long long)one->id, one->method);
	}
	msd_buf_put(ret, value.p, value.n);
	return MSD_OK;
}

msd_err msd_dependency_write(const struct msd_dependency *a, struct msd_span body,
			     struct msd_buf *ret, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(body);
	struct msd_result_of r;
	struct msd_span before;
	msd_err err = MSD_OK;
	bool has_more;

	do {
		has_more = msd_result_of_next(&c, &before, &r);
		msd_buf_put(ret, before.p, before.n);
		if (has_more)
			err = write_value(a, &r, ret, d);
	} while (has_more && err == MSD_OK);
	if (err == MSD_OK && ret->bad)
		err = msd_diag_no_memory(d);
	if (err == MSD_OK && ret->n > MSD_MAX_BODY_BYTES) {
		err = msd_diag_set(d, MSD_TOO_LARGE,
				   "the request has %zu bytes with the results that it "
				   "names, at most %u are allowed",
				   ret->n, MSD_MAX_BODY_BYTES);
	}
	return err;
}

uint64_t msd_dependency_first(const struct msd_dependency *a, const char **ret_method)
{
	uint32_t i = 0;

	while (i + 1 < a->n_uses && a->uses[i].of->is_settled)
		i++;
	*ret_method = a->uses[i].of->method;
	return a->uses[i].of->id;
}
