#ifndef MSD_SUPERVISOR_ASKING_H
#define MSD_SUPERVISOR_ASKING_H
/* A request on its way to its answer: handlers read the upper half and fill
 * the lower one. */
#include "daemon/http/reply.h"
#include "proto/diag.h"

struct msd_edge;
struct msd_caller;
struct msd_http_request;

#define MSD_ASKING_NAMES 2u

struct msd_asking {
	struct msd_edge *edge;
	struct msd_caller *caller; /* who asks */
	const struct msd_http_request *request;
	struct msd_span names[MSD_ASKING_NAMES]; /* what the path has where the route
						  * has a star */
	bool is_later;                           /* the answer comes when a call is
						  * done */
	struct msd_span text;                    /* the answer, where it is static */
	struct msd_buf body;                     /* else what it is; owned */
	struct msd_http_reply reply;             /* its head */
};

/** Answer @text, which is static, with @status; or what the caller appends. */
void msd_asking_say(struct msd_asking *a, unsigned status, const char *text);
/** Answer JSON, which the caller appends, with @status. */
void msd_asking_say_json(struct msd_asking *a, unsigned status);
/** Answer `{"error": ...}`, with @status and the text of @d, which is finished; with a
 * Retry-After where it may be otherwise in a moment (503, 429). */
void msd_asking_fail(struct msd_asking *a, unsigned status, struct msd_diag *d);
/** The status that says @err. */
unsigned msd_asking_status(msd_err err);

#endif
