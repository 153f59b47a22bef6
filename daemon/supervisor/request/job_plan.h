#ifndef MSD_SUPERVISOR_JOB_PLAN_H
#define MSD_SUPERVISOR_JOB_PLAN_H
/*
 * What reading a call finds out, kept for when the same body comes again on its
 * connection (proto/recognise.h): its module and function, its options, where in
 * its parameters the tensors are whose bytes come behind it. The body says all of it
 * but one thing, which module has the name now: that is good for a generation of the
 * house's. What a client may do, and whether there is room, is asked anew each time.
 *
 * A request that follows a plan has no parameters of its own: until its client has the
 * answer, or is gone, it keeps the remembered body in use.
 */
#include "daemon/supervisor/request/request.h"
#include "proto/recognise.h"

/* A tensor whose bytes are in the payload. */
struct msd_inline {
	uint32_t at;     /* of its ext data in the parameters */
	uint64_t offset; /* of its bytes in the payload */
};

struct msd_job_plan {
	uint64_t generation;       /* when `module` had the name */
	struct msd_module *module; /* of the same generation alone */
	uint8_t function;          /* msd_req_at.function, likewise */
	bool has_deadline, is_unordered, is_background, kills_at_leave;
	uint64_t deadline_ms;
	struct msd_device device;
	uint64_t out_bytes; /* of declared outputs */
	uint32_t n_inlines;
	struct msd_inline inlines[];
};

/** @known, which has a plan, is what @r asks for. */
void msd_job_plan_follow(struct msd_req *r, struct msd_known *known);
/** The beginning of @r's request to its worker, whose id there it has: all but the
 * options; @has_tail says that some follow. */
void msd_job_plan_write(const struct msd_req *r, bool has_tail, struct msd_buf *body);
/** The bytes of all of it, where it is what the client has sent but for the id: that
 * had no options, and it needs none. 0: it is written. */
static inline uint32_t msd_job_plan_copied(const struct msd_req *r, bool has_tail)
{
	const struct msd_known *known = r->job.known;

	return known != NULL && known->body.options.n == 0 && !has_tail ? known->n_bytes
									: 0;
}
/** Write so many bytes to @body. */
void msd_job_plan_copy(const struct msd_req *r, uint8_t *body);
/** What @r says: its parameters, perhaps as they came. */
static inline struct msd_span msd_job_plan_params(const struct msd_req *r)
{
	return r->job.known != NULL
		       ? r->job.known->body.params
		       : (struct msd_span){r->job.params.p, r->job.params.n};
}
/** @r needs its plan no more, if it follows one. */
static inline void msd_job_plan_leave(struct msd_req *r)
{
	if (r->job.known != NULL)
		r->job.known->n_users--;
	r->job.known = NULL;
}

#endif
