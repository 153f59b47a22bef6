#ifndef MSD_HTTP_REPLY_H
#define MSD_HTTP_REPLY_H
/* Encode an HTTP response: its head and body. */
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/bytes.h"

#define MSD_HTTP_JSON "application/json"
#define MSD_HTTP_TEXT "text/plain; charset=utf-8"

struct msd_http_reply {
	unsigned status;
	const char *type;      /* of the body */
	struct msd_span body;  /* borrowed */
	uint64_t behind_bytes; /* bytes written after the body */
	uint64_t json_bytes;   /* bytes of JSON among them; the JSON is not in `body` */
	bool has_tensors;      /* also send the length of the JSON */
	const char *policy;    /* Content-Security-Policy; NULL if absent */
	const char *allow;     /* the methods of a 405; NULL if absent */
	unsigned retry_after_s; /* 0 if absent */
	bool wants_token;       /* for a 401 */
	bool is_head;           /* omit the body (HEAD) */
	bool closes;            /* close the connection afterwards */
	bool is_old;            /* for a keep-alive HTTP/1.0 connection */
};

/** Append the response. */
void msd_http_reply_write(struct msd_buf *out, const struct msd_http_reply *r);
/** Append 100 Continue. */
void msd_http_reply_continue(struct msd_buf *out);

#endif
