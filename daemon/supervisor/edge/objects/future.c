/* Happy path: expect; keep, which takes one dependency from the first waiter; freed
 * after many later futures were settled. dependency.c handles the waiters. */
#include <stdlib.h>

#include "daemon/supervisor/edge/objects/future_parts.h"
#include "proto/limits.h"
#include "proto/value.h"

/* Each request in flight may have a future, plus the settled ones. */
#define MOST_PROMISES (2u * MSD_MAX_IN_FLIGHT)

void msd_futures_init(struct msd_futures *p, struct msd_account *account,
		      void (*on_ready)(struct msd_futures *p))
{
	*p = (struct msd_futures){.account = account, .on_ready = on_ready};
	msd_list_init(&p->all);
	msd_list_init(&p->ready);
}

static void charge(struct msd_futures *p, struct msd_future *one)
{
	const size_t bytes = sizeof(*one) + one->value.cap + one->why.len;

	msd_account_charge(p->account, bytes - one->charged);
	one->charged = bytes;
}

static void forget(struct msd_futures *p, struct msd_future *one)
{
	msd_list_remove(&one->link);
	msd_account_release(p->account, one->charged);
	p->n--;
	msd_buf_finish(&one->value);
	msd_diag_finish(&one->why);
	free(one);
}

void msd_futures_finish(struct msd_futures *p)
{
	MSD_LIST_EACH_SAFE (it, &p->all)
		forget(p, MSD_CONTAINER_OF(it, struct msd_future, link));
}

static bool is_idle(const struct msd_future *one)
{
	return one->is_settled && msd_list_is_empty(&one->line);
}

static void forget_oldest_idle(struct msd_futures *p)
{
	MSD_LIST_EACH_SAFE (it, &p->all) {
		struct msd_future *one = MSD_CONTAINER_OF(it, struct msd_future, link);
		if (is_idle(one)) {
			forget(p, one);
			p->n_idle--;
			return;
		}
	}
}

void msd_future_rest(struct msd_futures *p)
{
	if (++p->n_idle > MSD_MAX_RESULTS_KEPT)
		forget_oldest_idle(p);
}

struct msd_future *msd_future_find(const struct msd_futures *p, uint64_t id)
{
	for (struct msd_list *it = p->all.prev; it != &p->all; it = it->prev) {
		struct msd_future *one = MSD_CONTAINER_OF(it, struct msd_future, link);
		if (one->id == id)
			return one;
	}
	return NULL;
}

msd_err msd_futures_expect(struct msd_futures *p, uint64_t id, enum msd_method method,
			   struct msd_diag *d)
{
	const struct msd_method_row *row = msd_method_row(method);

	if (p->n >= MOST_PROMISES) {
		return msd_diag_set(d, MSD_BUSY,
				    "%u requests of this connection wait for promised "
				    "results, the maximum",
				    p->n);
	}
	struct msd_future *one = calloc(1, sizeof(*one));
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

bool msd_futures_expects(const struct msd_futures *p, uint64_t id)
{
	const struct msd_future *one = msd_future_find(p, id);

	return one != NULL && !one->is_settled;
}

void msd_future_came(struct msd_futures *p, struct msd_dependency *a)
{
	const bool was_nobody = msd_list_is_empty(&p->ready);

	if (--a->n_missing > 0)
		return;
	msd_list_append(&p->ready, &a->link);
	if (was_nobody)
		p->on_ready(p);
}

struct msd_dependency_use *msd_future_first(struct msd_future *one)
{
	struct msd_list *it = msd_list_first(&one->line);

	return it != NULL ? MSD_CONTAINER_OF(it, struct msd_dependency_use, link)
			  : NULL;
}

static void settle(struct msd_futures *p, struct msd_future *one)
{
	const struct msd_dependency_use *first = msd_future_first(one);

	one->is_settled = true;
	p->n_open--;
	charge(p, one);
	if (first != NULL) {
		msd_future_came(p, first->by);
	} else {
		msd_future_rest(p);
	}
}

/* Store the value of @result. For a map this is its name, which identifies the
 * module. */
static msd_err keep(struct msd_future *one, struct msd_span result)
{
	struct msd_cur c = msd_cur_of(result), pairs;
	uint32_t n;

	if (msd_map_open(result, &pairs, &n)) {
		result = msd_map_value(result, "name");
	} else if (!msd_object_parse(&c, &result)) {
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

void msd_futures_keep(struct msd_futures *p, uint64_t id, struct msd_span result)
{
	struct msd_future *one = msd_future_find(p, id);

	if (one == NULL || one->is_settled)
		return;
	(void)keep(one, result);
	settle(p, one);
}

void msd_futures_fail(struct msd_futures *p, uint64_t id, const struct msd_diag *why)
{
	struct msd_future *one = msd_future_find(p, id);
	const bool is_passed_on = p->is_passed_on;

	p->is_passed_on = false;
	if (one == NULL || one->is_settled)
		return;
	(void)msd_diag_set(&one->why, why->code, "%s", msd_diag_text(why));
	one->why.retry_after_ms = why->retry_after_ms;
	one->why.hint = why->hint;
	one->is_passed_on = is_passed_on;
	settle(p, one);
}
