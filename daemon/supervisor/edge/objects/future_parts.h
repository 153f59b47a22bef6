#ifndef MSD_SUPERVISOR_FUTURE_PARTS_H
#define MSD_SUPERVISOR_FUTURE_PARTS_H
/* Shared by future.c and dependency.c. Other files include only future.h. */
#include "daemon/supervisor/edge/objects/future.h"

struct msd_future {
	struct msd_list link; /* msd_futures.all */
	struct msd_list line; /* msd_dependency_use.link: its waiters */
	uint64_t id;
	const char *method;
	bool is_settled, is_passed_on;
	struct msd_diag why;  /* the failure; MSD_OK: a value */
	struct msd_buf value; /* one object */
	size_t charged;
};

/* A future that a request waits for. Each future has at most one use per request. */
struct msd_dependency_use {
	struct msd_list link; /* msd_future.line */
	struct msd_future *of;
	struct msd_dependency *by;
};

/** Return the latest future with this id, or NULL. */
struct msd_future *msd_future_find(const struct msd_futures *p, uint64_t id);
/** Return the first waiter of @one, or NULL. */
struct msd_dependency_use *msd_future_first(struct msd_future *one);
/** @a waits for one future less. */
void msd_future_came(struct msd_futures *p, struct msd_dependency *a);
/** @p has one more settled future without waiters. */
void msd_future_rest(struct msd_futures *p);

#endif
