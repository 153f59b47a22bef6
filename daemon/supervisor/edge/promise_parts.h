#ifndef MSD_SUPERVISOR_PROMISE_PARTS_H
#define MSD_SUPERVISOR_PROMISE_PARTS_H
/* What promise.c and awaited.c share; others know promise.h alone. */
#include "daemon/supervisor/edge/promise.h"

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

/** The youngest of this id, or NULL. */
struct msd_promise *msd_promise_find(const struct msd_promises *p, uint64_t id);
/** Who is first in the line of @one, or NULL. */
struct msd_awaited_use *msd_promise_first(struct msd_promise *one);
/** One thing less for @a to wait for. */
void msd_promise_came(struct msd_promises *p, struct msd_awaited *a);
/** @p has one more that is settled and not awaited. */
void msd_promise_rest(struct msd_promises *p);

#endif
