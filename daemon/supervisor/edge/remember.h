#ifndef MSD_SUPERVISOR_REMEMBER_H
#define MSD_SUPERVISOR_REMEMBER_H
/*
 * Calls that come again on a connection, with what was found out about them: a plan
 * (daemon/supervisor/request/job_plan.h). Whatever names an object of the connection's
 * is read anew each time, for objects come and go.
 */
#include "daemon/supervisor/edge/request_options.h"
#include "daemon/supervisor/edge/session.h"
#include "proto/method.h"

/** What @in asks for: what came before is a call, and no names are compared. */
static inline enum msd_method msd_remember_method(const struct msd_in *in)
{
	return in->known != NULL ? MSD_M_CALL : msd_method_find(in->body.method);
}
/** @in came before, and its plan still holds. */
bool msd_remember_knows(const struct msd_session *s, const struct msd_in *in);
/**
 * @r is @in, a request that was read without error, with @o and outputs of @out_bytes;
 * no tensor of it is resident, those in its payload are s->inlines. It is remembered,
 * if it may be: see msd_memory_add(); or its old plan holds again.
 */
void msd_remember_call(struct msd_session *s, const struct msd_in *in,
		       const struct msd_req *r, const struct msd_request_options *o,
		       uint64_t out_bytes);

#endif
