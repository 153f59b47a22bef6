#ifndef MSD_SUPERVISOR_PROMISE_H
#define MSD_SUPERVISOR_PROMISE_H
/*
 * Results of a connection's requests that later ones name (PROTOCOL.md section 6). A
 * request with the option `promised` has a promise here from its coming on, which its
 * answer settles: by a value that is kept, or by a failure. Who names some of them
 * awaits them: once all are settled, and those that came before it and name one of
 * these have taken it, it is ready, and can be written with values in their places.
 *
 * Waiting is in the order of coming in the line of each promise, so who came first is
 * first in all of its lines: nobody waits in a circle, and requests that name the same
 * object stay in order.
 */
#include "daemon/wire/account.h"
#include "daemon/wire/list.h"
#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/method.h"

struct msd_awaited_use;
struct msd_req;

struct msd_promises {
	struct msd_list all;        /* msd_promise.link, the oldest first */
	struct msd_list ready;      /* msd_awaited.link */
	uint32_t n, n_open, n_idle; /* of them; not settled; settled, and not awaited */
	struct msd_account *account; /* what they hold is charged to it */
	/* The next failure that is told is one that was passed on: its text says of
	 * which request it is. */
	bool is_passed_on;
	/** Somebody is ready, where nobody was. */
	void (*on_ready)(struct msd_promises *p);
};

void msd_promises_init(struct msd_promises *p, struct msd_account *account,
		       void (*on_ready)(struct msd_promises *p));
/** Nobody awaits any of them any more. */
void msd_promises_finish(struct msd_promises *p);

/* What one request awaits. */
struct msd_awaited {
	/* Its owner's. */
	struct msd_req *req;
	uint64_t begun_ms, payload_bytes; /* of its frame */
	/* private */
	struct msd_list link; /* msd_promises.ready */
	struct msd_promises *all;
	uint32_t n_missing; /* uses that are not the first in a settled promise's line
			     */
	uint32_t n_uses;
	struct msd_awaited_use *uses;
};

/** The result of the request @id will be named. An older one of this id is not meant
 * any more. Errors: MSD_BUSY, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_promises_expect(struct msd_promises *p, uint64_t id,
					   enum msd_method method, struct msd_diag *d);
/** Is the answer to @id to be told? */
bool msd_promises_expects(const struct msd_promises *p, uint64_t id);
/** The request @id, whether it is expected or not, was answered with @result: one
 * object, of a map at least the pairs up to `name`. */
void msd_promises_keep(struct msd_promises *p, uint64_t id, struct msd_span result);
/** The same with the failure @why. */
void msd_promises_fail(struct msd_promises *p, uint64_t id, const struct msd_diag *why);

/**
 * The request @id, whose body @body names @n_results results, awaits them. Ends with
 * msd_awaited_destroy(). Errors: MSD_BAD_REQUEST (too many, its own, or one that is not
 * known), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_awaited_new(struct msd_promises *p, uint64_t id,
				       struct msd_span body, uint32_t n_results,
				       struct msd_awaited **ret, struct msd_diag *d);
/** NULL is fine. Who is next in its lines may be ready then. */
void msd_awaited_destroy(struct msd_awaited *a);
static inline bool msd_awaited_is_ready(const struct msd_awaited *a)
{
	return a->n_missing == 0;
}
/** The first that had to wait and is ready, or NULL. */
struct msd_awaited *msd_promises_ready(struct msd_promises *p);
/**
 * Of a ready one: @body, as before, with values in their places, behind @ret. Errors:
 * that of a request whose result it names, and then p->is_passed_on is set;
 * MSD_BAD_REQUEST, MSD_UNSUPPORTED, MSD_TOO_LARGE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_awaited_write(const struct msd_awaited *a,
					 struct msd_span body, struct msd_buf *ret,
					 struct msd_diag *d);
/** Of one that is not: a request whose result it waits for. */
uint64_t msd_awaited_first(const struct msd_awaited *a, const char **ret_method);

#endif
