#ifndef MSD_SUPERVISOR_FUTURE_H
#define MSD_SUPERVISOR_FUTURE_H
/*
 * Results of a connection's requests that later requests name (PROTOCOL.md section
 * 6). A request with the option `promised` has a future from its arrival on. The
 * reply settles it with a stored value or with a failure. A request that names
 * futures waits for them. It is ready when all are settled and all earlier requests
 * that name one of them have used it. It can then be written with the values.
 *
 * Waiters queue in order of arrival at each future. The oldest request is first in
 * all its queues, so there is no deadlock, and requests that name the same object
 * stay in order.
 */
#include "daemon/loop/account.h"
#include "daemon/loop/list.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/method.h"

struct msd_dependency_use;
struct msd_req;

struct msd_futures {
	struct msd_list all;         /* msd_future.link, the oldest first */
	struct msd_list ready;       /* msd_dependency.link */
	uint32_t n, n_open, n_idle;  /* total; not settled; settled without waiters */
	struct msd_account *account; /* charged for their memory */
	/* The next failure was passed on: its text already names the request that
	 * failed. */
	bool is_passed_on;
	/** A request is ready, and no request was before. */
	void (*on_ready)(struct msd_futures *p);
};

void msd_futures_init(struct msd_futures *p, struct msd_account *account,
		      void (*on_ready)(struct msd_futures *p));
/** Free all. There must be no waiters. */
void msd_futures_finish(struct msd_futures *p);

/* The futures that one request waits for. */
struct msd_dependency {
	/* For the owner. */
	struct msd_req *req;
	uint64_t begun_ms, payload_bytes; /* of its frame */
	/* private */
	struct msd_list link; /* msd_futures.ready */
	struct msd_futures *all;
	uint32_t n_missing; /* uses that are not first in the queue of a settled future
			     */
	uint32_t n_uses;
	struct msd_dependency_use *uses;
};

/**
 * Create a future for the request @id. It replaces an older one with the same id.
 * Errors: MSD_BUSY, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_futures_expect(struct msd_futures *p, uint64_t id,
					  enum msd_method method, struct msd_diag *d);
/**
 * True if the reply to @id must be passed to msd_futures_keep() or
 * msd_futures_fail().
 */
bool msd_futures_expects(const struct msd_futures *p, uint64_t id);
/**
 * The request @id was answered with @result, one object; a map needs at least the
 * pairs up to `name`. Ignored if @id has no open future.
 */
void msd_futures_keep(struct msd_futures *p, uint64_t id, struct msd_span result);
/** Like msd_futures_keep(), for the failure @why. */
void msd_futures_fail(struct msd_futures *p, uint64_t id, const struct msd_diag *why);

/**
 * Make the request @id wait for the @n_results results that @body names. Free it with
 * msd_dependency_destroy(). Errors: MSD_BAD_REQUEST (too many, its own id, or an
 * unknown id), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_dependency_new(struct msd_futures *p, uint64_t id,
					  struct msd_span body, uint32_t n_results,
					  struct msd_dependency **ret,
					  struct msd_diag *d);
/** NULL is allowed. The next waiters in its queues may become ready. */
void msd_dependency_destroy(struct msd_dependency *a);
static inline bool msd_dependency_is_ready(const struct msd_dependency *a)
{
	return a->n_missing == 0;
}
/** Return the first request that had to wait and is ready, or NULL. */
struct msd_dependency *msd_futures_ready(struct msd_futures *p);
/**
 * Append the same @body with the values to @ret. @a must be ready. Errors: the error
 * of a named request (sets p->is_passed_on), MSD_BAD_REQUEST, MSD_UNSUPPORTED,
 * MSD_TOO_LARGE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_dependency_write(const struct msd_dependency *a,
					    struct msd_span body, struct msd_buf *ret,
					    struct msd_diag *d);
/** Return the id of a request whose result @a waits for. @a must not be ready. */
uint64_t msd_dependency_first(const struct msd_dependency *a, const char **ret_method);

#endif
