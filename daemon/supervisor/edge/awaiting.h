#ifndef MSD_SUPERVISOR_AWAITING_H
#define MSD_SUPERVISOR_AWAITING_H
/*
 * Requests of a connection that name results of earlier ones (promise.h): those that
 * have to wait do it here, as requests in flight that no module has yet, so that they
 * can be cancelled, have deadlines, and count. When what they name is there, their
 * bodies are written with it, and go the way of all others (msd_awaiting.resume).
 *
 * One with a payload waits with its connection, of which nothing is read then: its
 * bytes have no place before it is known where they go.
 */
#include "daemon/supervisor/edge/promise.h"
#include "daemon/supervisor/edge/session.h"
#include "daemon/supervisor/request/deadline.h"

struct msd_awaiting {
	struct msd_promises promises;
	struct msd_session *session;
	/** @in had to wait and is complete; its bytes are there until this returns,
	 * those of one with a payload until msd_awaiting_pass(). */
	void (*resume)(struct msd_session *s, struct msd_in *in);
	struct msd_deadline wake; /* somebody is ready */
	struct msd_req *held;     /* with whose payload the connection waits, or NULL */
	struct msd_buf body;      /* of the frame that is being read, as written anew */
};

enum msd_awaits {
	MSD_AWAITS_NOTHING, /* it may go on, with another body perhaps */
	MSD_AWAITS_RESULTS, /* it is resumed later */
};

/** Has @in, a request that is not known by its bytes, to do with this at all? */
bool msd_awaiting_concerns(const struct msd_in *in);
/** What @s has of this, made when there is none; NULL: out of memory. */
struct msd_awaiting *msd_awaiting_of(struct msd_session *s,
				     void (*resume)(struct msd_session *s,
						    struct msd_in *in));
/** @in has, and is looked at before anything else is done for it. On failure it is for
 * the caller to refuse. */
MSD_MUST_CHECK msd_err msd_awaiting_take(struct msd_awaiting *a, struct msd_in *in,
					 enum msd_method method, enum msd_awaits *ret,
					 struct msd_diag *d);
/** No request is on its way in: those that are ready may go. */
void msd_awaiting_go_on(struct msd_awaiting *a);
/** The frame in front was handed on: its body is not needed any more. */
void msd_awaiting_pass(struct msd_awaiting *a);
/** Are answers to be told? @a may be NULL. */
static inline bool msd_awaiting_expects(const struct msd_awaiting *a)
{
	return a != NULL && a->promises.n_open > 0;
}
/** @id was answered with @result, or with the frame @o, or with the failure @why. */
void msd_awaiting_keep(struct msd_awaiting *a, uint64_t id, struct msd_span result);
void msd_awaiting_keep_frame(struct msd_awaiting *a, const struct msd_out *o);
void msd_awaiting_fail(struct msd_awaiting *a, uint64_t id, const struct msd_diag *why);
/** The connection is over, and its requests are. NULL is fine. */
void msd_awaiting_destroy(struct msd_awaiting *a);

#endif
