#ifndef MSD_SUPERVISOR_DEPENDENTS_H
#define MSD_SUPERVISOR_DEPENDENTS_H
/*
 * Requests of a connection that name results of earlier requests (future.h). A
 * request that must wait is a request in flight without a module: it can be
 * cancelled, has a deadline and counts. When the results arrive, they are written
 * into its body and it continues like any request (msd_dependents.resume).
 *
 * If a waiting request has a payload, the daemon stops reading from its connection:
 * the payload has no destination yet.
 */
#include "daemon/loop/task.h"
#include "daemon/supervisor/edge/objects/future.h"
#include "daemon/supervisor/edge/session/session.h"

struct msd_dependents {
	struct msd_futures promises;
	struct msd_session *session;
	/**
	 * @in had to wait and is complete. Its bytes are valid until this returns, or
	 * with a payload until msd_dependents_pass().
	 */
	void (*resume)(struct msd_session *s, struct msd_in *in);
	struct msd_task wake; /* a request is ready */
	struct msd_req
		*held; /* the request whose payload blocks the connection, or NULL */
	struct msd_buf body; /* body of the current frame with the results */
};

enum msd_dependence {
	MSD_DEPENDENCE_NOTHING, /* the request continues, perhaps with another body */
	MSD_DEPENDENCE_RESULTS, /* the request is resumed later */
};

/**
 * True if @in names results or its result will be named. @in is not in the body
 * cache.
 */
bool msd_dependents_concerns(const struct msd_in *in);
/**
 * Return the awaiting state of @s; create it if it does not exist. NULL: out of
 * memory.
 */
struct msd_dependents *msd_dependents_of(struct msd_session *s,
					 void (*resume)(struct msd_session *s,
							struct msd_in *in));
/**
 * Process @in, for which msd_dependents_concerns() is true, before anything else. On
 * failure the caller rejects the request.
 */
MSD_MUST_CHECK msd_err msd_dependents_take(struct msd_dependents *a, struct msd_in *in,
					   enum msd_method method,
					   enum msd_dependence *ret,
					   struct msd_diag *d);
/** No request is being received: ready requests may start. */
void msd_dependents_go_on(struct msd_dependents *a);
/** The current frame was processed: its body is not needed any more. */
void msd_dependents_pass(struct msd_dependents *a);
/** True if replies must be passed to the functions below. @a may be NULL. */
static inline bool msd_dependents_expects(const struct msd_dependents *a)
{
	return a != NULL && a->promises.n_open > 0;
}
/** Store the reply to @id: @result, the frame @o or the failure @why. */
void msd_dependents_keep(struct msd_dependents *a, uint64_t id, struct msd_span result);
void msd_dependents_keep_frame(struct msd_dependents *a, const struct msd_out *o);
void msd_dependents_fail(struct msd_dependents *a, uint64_t id,
			 const struct msd_diag *why);
/** Free @a after the connection and its requests ended. NULL is allowed. */
void msd_dependents_destroy(struct msd_dependents *a);

#endif
