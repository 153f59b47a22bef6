#ifndef MSD_SUPERVISOR_ASKING_H
#define MSD_SUPERVISOR_ASKING_H
/* A request and its reply: handlers read the upper fields and set the lower ones. */
#include "daemon/http/reply.h"
#include "proto/diag.h"

struct msd_edge;
struct msd_caller;
struct msd_http_request;

#define MSD_ASKING_NAMES 2u

struct msd_asking {
	struct msd_edge *edge;
	struct msd_caller *caller; /* session of the client */
	const struct msd_http_request *request;
	struct msd_span names[MSD_ASKING_NAMES]; /* path segments that match the stars
						    of the route */
	bool is_later;               /* the reply follows when a call has finished */
	struct msd_span text;        /* the reply if it is static */
	struct msd_buf body;         /* otherwise its body; owned */
	struct msd_http_reply reply; /* its head */
};

/**
 * Reply with @status and @text, which is static, or the text that the caller appends.
 */
void msd_asking_say(struct msd_asking *a, unsigned status, const char *text);
/** Reply with @status and JSON, which the caller appends. */
void msd_asking_say_json(struct msd_asking *a, unsigned status);
/**
 * Reply with @status and `{"error": ...}`, the text of @d, which is freed. Adds
 * Retry-After if a retry may succeed soon (503, 429).
 */
void msd_asking_fail(struct msd_asking *a, unsigned status, struct msd_diag *d);
/** The HTTP status of @err. */
unsigned msd_asking_status(msd_err err);

#endif
