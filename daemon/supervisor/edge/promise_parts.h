#ifndef MSD_SUPERVISOR_PROMISE_PARTS_H
#define MSD_SUPERVISOR_PROMISE_PARTS_H
/* Shared by promise.c and awaited.c. Other files include only promise.h. */
#include "daemon/supervisor/edge/promise.h"

struct msd_promise {
	struct msd_list link; /* msd_promises.all */
	struct msd_list line; /* msd_awaited_use.link: its waiters */
	uint64_t id;
	const char *method;
	bool is_settled, is_passed_on;
	struct msd_diag why;  /* the failure; MSD_OK: a value */
	struct msd_buf value; /* one object */
	size_t charged;
};

/* A future that a request waits for. Each future has at most one use per request. */
struct msd_awaited_use {
	struct msd_list link; /* msd_promise.line */
	struct msd_promise *of;
	struct msd_awaited *by;
};

/** Return the latest future with this id, or NULL. */
struct msd_promise *msd_promise_find(const struct msd_promises *p, uint64_t id);
/** Return the first waiter of @one, or NULL. */
struct msd_awaited_use *msd_promise_first(struct msd_promise *one);
/** @a waits for one future less. */
void msd_promise_came(struct msd_promises *p, struct msd_awaited *a);
/** @p has one more settled future without waiters. */
void msd_promise_rest(struct msd_promises *p);

#endif
