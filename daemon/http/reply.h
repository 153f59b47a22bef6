#ifndef MSD_HTTP_REPLY_H
#define MSD_HTTP_REPLY_H
/* An answer as bytes: its head, and what belongs behind it. */
#include <stdbool.h>
#include <stdint.h>

#include "proto/bytes.h"

#define MSD_HTTP_JSON "application/json"
#define MSD_HTTP_TEXT "text/plain; charset=utf-8"

struct msd_http_reply {
	/* It was written before, with this head, to who had a connection of HTTP/1.1
	 * that goes on; borrowed. Nothing: the head is made. */
	struct msd_span head;
	unsigned status;
	const char *type;       /* of the body */
	struct msd_span body;   /* borrowed */
	uint64_t behind_bytes;  /* of what is written behind it */
	uint64_t json_bytes;    /* of those: the JSON, which is not in the body */
	bool has_tensors;       /* so the JSON's own length is told, too */
	const char *policy;     /* what its page may do; NULL: not said */
	const char *allow;      /* the methods of a 405; NULL: not said */
	unsigned retry_after_s; /* 0: not said */
	bool wants_token;       /* of a 401 */
	bool is_head;           /* the body is left out */
	bool closes;            /* nothing follows it */
	bool is_old;            /* of an HTTP/1.0 connection that goes on */
};

/** Append it. */
void msd_http_reply_write(struct msd_buf *out, const struct msd_http_reply *r);
/** Append that the body is awaited: 100 Continue. */
void msd_http_reply_continue(struct msd_buf *out);

#endif
