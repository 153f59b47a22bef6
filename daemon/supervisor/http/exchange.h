#ifndef MSD_SUPERVISOR_EXCHANGE_H
#define MSD_SUPERVISOR_EXCHANGE_H
/* A request and its reply: handlers read the upper fields and set the lower ones. */
#include "daemon/http/reply.h"
#include "proto/base/diag.h"

struct msd_edge;
struct msd_http_session;
struct msd_http_request;

#define MSD_HTTP_EXCHANGE_NAMES 2u

struct msd_http_exchange {
	struct msd_edge *edge;
	struct msd_http_session *caller; /* session of the client */
	const struct msd_http_request *request;
	struct msd_span names[MSD_HTTP_EXCHANGE_NAMES]; /* path segments that match the
						    stars of the route */
	bool is_later;               /* the reply follows when a call has finished */
	struct msd_span text;        /* the reply if it is static */
	struct msd_buf body;         /* otherwise its body; owned */
	struct msd_http_reply reply; /* its head */
};

/**
 * Reply with @status and @text, which is static, or the text that the caller appends.
 */
void msd_http_exchange_say(struct msd_http_exchange *a, unsigned status,
			   const char *text);
/** Reply with @status and JSON, which the caller appends. */
void msd_http_exchange_say_json(struct msd_http_exchange *a, unsigned status);
/**
 * Reply with @status and `{"error": ...}`, the text of @d, which is freed. Adds
 * Retry-After if a retry may succeed soon (503, 429).
 */
void msd_http_exchange_fail(struct msd_http_exchange *a, unsigned status,
			    struct msd_diag *d);
/** The HTTP status of @err. */
unsigned msd_http_exchange_status(msd_err err);

#endif
