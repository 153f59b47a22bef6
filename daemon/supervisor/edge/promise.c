/*
 * Happy path: expect; new, which puts a use at the end of each named promise's line;
 * keep, which makes the first in line one thing less to wait for; ready; write;
 * destroy, which lets the next in line come.
 *
 * Failures: what is not known is refused at once; a promise that was settled by a
 * failure fails whoever is written with it, by the same words however long the chain.
 */
#include "daemon/supervisor/edge/promise.h"

#include <stdlib.h>

#include "proto/body.h"
#include "proto/result_of.h"
#include "proto/value.h"

/* Every request in flight may be one, and those that are settled. */
#define MOST_PROMISES (2u * MSD_MAX_IN_FLIGHT)

struct msd_promise {
	struct msd_list link; /* msd_promises.all */
	struct msd_list line; /* msd_awaited_use.link: who awaits it */
	uint64_t id;
	const char *method;
	bool is_settled, is_passed_on;
	struct msd_diag why;  /* of a failure; MSD_OK: there is a value */
	struct msd_buf value; /* one object */
	size_t charged;
};

/* One of those that a request awaits, each once. */
struct msd_awaited_use {
	struct msd_list link; /* msd_promise.line */
	struct msd_promise *of;
	struct msd_awaited *by;
};

void msd_promises_init(struct msd_promises *p, struct msd_account *account,
		       void (*on_ready)(struct msd_promises *p))
{
	*p = (struct msd_promises){.account = account, .on_ready = on_ready};
	msd_list_init(&p->all);
	msd_list_init(&p->ready);
}

static void charge(struct msd_promises *p, struct msd_promise *one)
{
	const size_t bytes = sizeof(*one) + one->value.cap + one->why.len;

	msd_account_charge(p->account, bytes - one->charged);
	one->charged = bytes;
}

static void forget(struct msd_promises *p, struct msd_promise *one)
{
	msd_list_remove(&one->link);
	msd_account_release(p->account, one->charged);
	p->n--;
	msd_buf_finish(&one->value);
	msd_diag_finish(&one->why);
	free(one);
}

void msd_promises_finish(struct msd_promises *p)
{
	MSD_LIST_EACH_SAFE (it, &p->all)
		forget(p, MSD_CONTAINER_OF(it, struct msd_promise, link));
}

static bool is_idle(const struct msd_promise *one)
{
	return one->is_settled && msd_list_is_empty(&one->line);
}

static void forget_oldest_idle(struct msd_promises *p)
{
	MSD_LIST_EACH_SAFE (it, &p->all) {
		struct msd_promise *one =
			MSD_CONTAINER_OF(it, struct msd_promise, link);
		if (is_idle(one)) {
			forget(p, one);
			p->n_idle--;
			return;
		}
	}
}

/* It has become idle. */
static void rest(struct msd_promises *p)
{
	if (++p->n_idle > MSD_MAX_RESULTS_KEPT)
		forget_oldest_idle(p);
}

/* The youngest of this id. */
static struct msd_promise *find(const struct msd_promises *p, uint64_t id)
{
	for (struct msd_list *it = p->all.prev; it != &p->all; it = it->prev) {
		struct msd_promise *one =
			MSD_CONTAINER_OF(it, struct msd_promise, link);
		if (one->id == id)
			return one;
	}
	return NULL;
}

msd_err msd_promises_expect(struct msd_promises *p, uint64_t id, enum msd_method method,
			    struct msd_diag *d)
{
	const struct msd_method_row *row = msd_method_row(method);

	if (p->n >= MOST_PROMISES) {
		return msd_diag_set(d, MSD_BUSY,
				    "%u promised results of this connection are waited "
				    "for, the most that may be",
				    p->n);
	}
	struct msd_promise *one = calloc(1, sizeof(*one));
	if (one == NULL)
		return msd_diag_no_memory(d);
	one->id = id;
	one->method = row != NULL ? row->name : "an unknown method";
	msd_list_init(&one->line);
	msd_list_append(&p->all, &one->link);
	p->n++;
	p->n_open++;
	charge(p, one);
	return MSD_OK;
}

bool msd_promises_expects(const struct msd_promises *p, uint64_t id)
{
	const struct msd_promise *one = find(p, id);

	return one != NULL && !one->is_settled;
}

/* One thing less for @a to wait for. */
static void came(struct msd_promises *p, struct msd_awaited *a)
{
	const bool was_nobody = msd_list_is_empty(&p->ready);

	if (--a->n_missing > 0)
		return;
	msd_list_append(&p->ready, &a->link);
	if (was_nobody)
		p->on_ready(p);
}

static struct msd_awaited_use *first_in_line(struct msd_promise *one)
{
	struct msd_list *it = msd_list_first(&one->line);

	return it != NULL ? MSD_CONTAINER_OF(it, struct msd_awaited_use, link) : NULL;
}

static void settle(struct msd_promises *p, struct msd_promise *one)
{
	const struct msd_awaited_use *first = first_in_line(one);

	one->is_settled = true;
	p->n_open--;
	charge(p, one);
	if (first != NULL) {
		came(p, first->by);
	} else {
		rest(p);
	}
}

/* What stands for @result: of a map its name, which says which module it is. */
static msd_err keep(struct msd_promise *one, struct msd_span result)
{
	struct msd_cur c = msd_cur_of(result), pairs;
	uint32_t n;

	if (msd_map_open(result, &pairs, &n)) {
		result = msd_map_value(result, "name");
	} else if (!msd_object_take(&c, &result)) {
		result.n = 0;
	}
	if (result.n == 0) {
		return msd_diag_set(&one->why, MSD_UNSUPPORTED,
				    "its result is a map without a name");
	}
	if (result.n > MSD_MAX_RESULT_BYTES) {
		return msd_diag_set(&one->why, MSD_TOO_LARGE,
				    "its result has %zu bytes, at most %u can be named",
				    result.n, MSD_MAX_RESULT_BYTES);
	}
	msd_buf_put(&one->value, result.p, result.n);
	return one->value.bad ? msd_diag_no_memory(&one->why) : MSD_OK;
}

void msd_promises_keep(struct msd_promises *p, uint64_t id, struct msd_span result)
{
	struct msd_promise *one = find(p, id);

	if (one == NULL || one->is_settled)
		return;
	(void)keep(one, result);
	settle(p, one);
}

void msd_promises_fail(struct msd_promises *p, uint64_t id, const struct msd_diag *why)
{
	struct msd_promise *one = find(p, id);
	const bool is_passed_on = p->is_passed_on;

	p->is_passed_on = false;
	if (one == NULL || one->is_settled)
		return;
	(void)msd_diag_set(&one->why, why->code, "%s", msd_diag_text(why));
	one->why.retry_after_ms = why->retry_after_ms;
	one->is_passed_on = is_passed_on;
	settle(p, one);
}

static bool awaits(const struct msd_awaited *a, const struct msd_promise *one)
{
	for (uint32_t i = 0; i < a->n_uses; i++) {
		if (a->uses[i].of == one)
			return true;
	}
	return false;
}

static msd_err await(struct msd_awaited *a, uint64_t by, uint64_t id,
		     struct msd_diag *d)
{
	struct msd_promise *one = find(a->all, id);

	if (id == by) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "request %llu names its own result",
				    (unsigned long long)id);
	}
	if (one == NULL) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"the result of request %llu is not known: no earlier request "
			"of this connection had that id and the option `promised`, or "
			"%u of them were answered since",
			(unsigned long long)id, MSD_MAX_RESULTS_KEPT);
	}
	if (awaits(a, one))
		return MSD_OK;
	struct msd_awaited_use *u = &a->uses[a->n_uses++];
	const bool is_first = msd_list_is_empty(&one->line);
	*u = (struct msd_awaited_use){.of = one, .by = a};
	msd_list_append(&one->line, &u->link);
	if (is_first && one->is_settled) {
		a->all->n_idle--;
	} else {
		a->n_missing++;
	}
	return MSD_OK;
}

msd_err msd_awaited_new(struct msd_promises *p, uint64_t id, struct msd_span body,
			uint32_t n_results, struct msd_awaited **ret,
			struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(body);
	struct msd_result_of r;
	struct msd_span before;
	msd_err err = MSD_OK;

	if (n_results > MSD_MAX_RESULTS_NAMED) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "the request names %u results of earlier ones, at "
				    "most %u are allowed",
				    n_results, MSD_MAX_RESULTS_NAMED);
	}
	/* In one block, the uses behind it. */
	struct msd_awaited *a = calloc(1, sizeof(*a) + n_results * sizeof(a->uses[0]));
	if (a == NULL)
		return msd_diag_no_memory(d);
	msd_list_init(&a->link);
	a->all = p;
	a->uses = (struct msd_awaited_use *)(a + 1);
	while (err == MSD_OK && msd_result_of_next(&c, &before, &r))
		err = await(a, id, r.id, d);
	if (err == MSD_OK) {
		*ret = a;
	} else {
		msd_awaited_destroy(a);
	}
	return err;
}

/* Out of the line, where the next may have waited for that. */
static void leave(struct msd_promises *p, struct msd_awaited_use *u)
{
	struct msd_promise *one = u->of;
	const bool was_first = first_in_line(one) == u;

	msd_list_remove(&u->link);
	if (!one->is_settled || !was_first)
		return;
	const struct msd_awaited_use *next = first_in_line(one);
	if (next != NULL) {
		came(p, next->by);
	} else {
		rest(p);
	}
}

void msd_awaited_destroy(struct msd_awaited *a)
{
	if (a == NULL)
		return;
	msd_list_remove(&a->link);
	for (uint32_t i = 0; i < a->n_uses; i++)
		leave(a->all, &a->uses[i]);
	free(a);
}

struct msd_awaited *msd_promises_ready(struct msd_promises *p)
{
	struct msd_list *it = msd_list_first(&p->ready);

	return it != NULL ? MSD_CONTAINER_OF(it, struct msd_awaited, link) : NULL;
}

static const struct msd_promise *promise_of(const struct msd_awaited *a, uint64_t id)
{
	uint32_t i = 0;

	while (a->uses[i].of->id != id) /* it is there: the body is the same */
		i++;
	return a->uses[i].of;
}

/* Its bytes came with another frame, and are gone. */
static msd_err refuse_inline(void *ctx, int8_t type, size_t at, size_t n,
			     struct msd_diag *d)
{
	const struct msd_span *value = ctx;

	(void)n;
	if (type != MSD_EXT_TENSOR || value->p[at] == MSD_AT_RESIDENT)
		return MSD_OK;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "is a tensor that went to the client: have it written to "
			    "a tensor of tensor.alloc, and name that");
}

static msd_err write_value(const struct msd_awaited *a, const struct msd_result_of *r,
			   struct msd_buf *ret, struct msd_diag *d)
{
	const struct msd_promise *one = promise_of(a, r->id);
	struct msd_span value = {one->value.p, one->value.n};
	struct msd_ext_visitor visitor = {.visit = refuse_inline, .ctx = &value};
	size_t used;

	if (one->why.code != MSD_OK) {
		(void)msd_diag_set(d, one->why.code, "%s", msd_diag_text(&one->why));
		d->retry_after_ms = one->why.retry_after_ms;
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

msd_err msd_awaited_write(const struct msd_awaited *a, struct msd_span body,
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

uint64_t msd_awaited_first(const struct msd_awaited *a, const char **ret_method)
{
	uint32_t i = 0;

	while (i + 1 < a->n_uses && a->uses[i].of->is_settled)
		i++;
	*ret_method = a->uses[i].of->method;
	return a->uses[i].of->id;
}
