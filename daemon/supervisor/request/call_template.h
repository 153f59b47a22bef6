#ifndef MSD_SUPERVISOR_CALL_TEMPLATE_H
#define MSD_SUPERVISOR_CALL_TEMPLATE_H
/*
 * The result of parsing a call, kept for the case that its connection sends the same
 * body again (proto/recognise.h): its module and function, its options, the offsets
 * of inline tensors in its parameters. The body determines all of it except the
 * module that has the name now: that is valid for one generation of the module
 * registry. Permissions and room are checked again for each call.
 *
 * A request that uses a call template has no parameters of its own. It keeps the
 * cached body in use until its client has the reply or is gone.
 */
#include "daemon/supervisor/request/request.h"
#include "proto/recognise.h"

/* A tensor whose bytes are in the payload. */
struct msd_inline {
	uint32_t at;     /* offset of its ext data in the parameters */
	uint64_t offset; /* offset of its bytes in the payload */
};

struct msd_call_template {
	uint64_t generation;       /* when `module` was looked up */
	struct msd_module *module; /* valid in the same generation only */
	uint8_t function; /* msd_req_at.function, valid in the same generation only */
	bool has_deadline, is_unordered, is_background, kills_at_leave;
	uint64_t deadline_ms;
	struct msd_device device;
	uint64_t out_bytes; /* of declared outputs */
	uint32_t n_inlines;
	struct msd_inline inlines[];
};

/** Use @known, which has a call template, for the request @r. */
void msd_call_template_follow(struct msd_req *r, struct msd_known *known);
/**
 * Write the beginning of @r's request to its worker, with its worker id: everything
 * except the options. @has_tail: options follow.
 */
void msd_call_template_write(const struct msd_req *r, bool has_tail,
			     struct msd_buf *body);
/**
 * The size of the request if it is the client's body with another id, which requires
 * that there are no options; msd_call_template_copy() then copies it. 0: it must be
 * written.
 */
static inline uint32_t msd_call_template_copied(const struct msd_req *r, bool has_tail)
{
	const struct msd_known *known = r->job.known;

	return known != NULL && known->body.options.n == 0 && !has_tail ? known->n_bytes
									: 0;
}
/** Write that number of bytes to @body. */
void msd_call_template_copy(const struct msd_req *r, uint8_t *body);
/** The parameters of @r, perhaps as received. */
static inline struct msd_span msd_call_template_params(const struct msd_req *r)
{
	return r->job.known != NULL
		       ? r->job.known->body.params
		       : (struct msd_span){r->job.params.p, r->job.params.n};
}
/** Release @r's call template, if it uses one. */
static inline void msd_call_template_leave(struct msd_req *r)
{
	if (r->job.known != NULL)
		r->job.known->n_users--;
	r->job.known = NULL;
}

#endif
