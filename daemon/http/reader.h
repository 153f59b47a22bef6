#ifndef MSD_HTTP_READER_H
#define MSD_HTTP_READER_H
/*
 * Incremental parser: the bytes of a connection become requests, one after the other.
 * It knows neither sockets nor paths. At HEAD the owner sets the body limit; at WHOLE
 * the owner answers.
 *
 *   MORE ... HEAD -> MORE ... WHOLE -> MORE ... HEAD ...     BAD: nothing follows
 *                  \-> MORE ... PART -> MORE ... WHOLE
 *
 * The body is contiguous. A short body that arrived whole stays in the read buffer;
 * any other is copied into the reader's memory. If the owner asks for a first part,
 * this holds for the part, and the rest goes to the owner's buffers. Each size is
 * checked against its limit before bytes are stored.
 */
#include <llhttp.h>

#include "daemon/http/head_scan.h"
#include "proto/base/bytes.h"

#define MSD_HTTP_MAX_HEAD 16384u      /* bytes: request line and fields */
#define MSD_HTTP_MAX_FIELDS 100u      /* of a request */
#define MSD_HTTP_MAX_FRAMING 1048576u /* bytes of chunk framing, without the body */
#define MSD_HTTP_LENT_BODY 8192u /* bytes of a body that stays in the read buffer */

enum msd_http_event {
	MSD_HTTP_MORE,
	MSD_HTTP_HEAD,
	MSD_HTTP_PART,
	MSD_HTTP_WHOLE,
	MSD_HTTP_BAD
};
enum msd_http_method {
	MSD_HTTP_GET,
	MSD_HTTP_HEAD_ONLY, /* method HEAD */
	MSD_HTTP_POST,
	MSD_HTTP_OTHER
};

/* The header fields that are used. */
enum msd_http_field {
	MSD_HTTP_F_HOST,
	MSD_HTTP_F_ORIGIN,
	MSD_HTTP_F_AUTHORIZATION,
	MSD_HTTP_F_EXPECT,
	MSD_HTTP_F_TRANSFER_ENCODING,
	MSD_HTTP_F_CONTENT_ENCODING,
	MSD_HTTP_F_ACCEPT,
	MSD_HTTP_F_INFERENCE_HEADER,
	MSD_HTTP_F_COUNT /* any other */
};

/* The spans belong to the reader and are valid from HEAD until the first read after
 * WHOLE. A short body that arrived whole points into the read buffer. */
struct msd_http_request {
	enum msd_http_method method;
	struct msd_span target;
	struct msd_span fields[MSD_HTTP_F_COUNT]; /* p is NULL if absent */
	struct msd_span body; /* at PART or WHOLE; empty at a WHOLE after a PART */
	uint64_t body_bytes;  /* from the head; 0 for chunks */
	bool is_again;        /* the head is equal to that of the previous request */
	bool is_chunked;
	bool has_part; /* PART was returned; the rest of the body goes to `rest` */
	bool keeps_alive;
	bool is_old; /* HTTP/1.0 */
	bool wants_continue;
};

struct msd_http_reader {
	struct msd_http_request request;
	uint64_t max_body; /* set by the owner at HEAD; 0 before */
	/*
	 * Set by the owner at HEAD, too: this many bytes of the body are a PART, and
	 * the bytes after them go to `rest`. No part if it is 0, if it is at least
	 * the body's size, or with chunks.
	 */
	uint64_t part_bytes;
	struct msd_scatter *rest; /* bytes beyond its room are dropped */
	unsigned status; /* for BAD: status and reason of the response. Static */
	const char *why;
	/* private */
	int state;
	llhttp_t parser;
	struct msd_head_scan scan;
	struct msd_buf head, body;
	enum msd_http_field field; /* field of the next value */
	unsigned n_fields;
	uint64_t n_body; /* received bytes of a body with a length */
	uint64_t n_raw;  /* received bytes of a chunked body, framing included */
	uint8_t last;    /* last of those bytes */
	bool is_whole;
};

/** Initialize for a new connection. */
void msd_http_reader_init(struct msd_http_reader *r);
void msd_http_reader_finish(struct msd_http_reader *r);
/**
 * Consume @in up to the next event. @in must continue where the last call stopped.
 * MORE: all of @in was consumed.
 */
enum msd_http_event msd_http_read(struct msd_http_reader *r, struct msd_span *in);
/**
 * Buffers that the owner may read the body into directly, without msd_http_read():
 * `rest`, after a PART. NULL if there is none now.
 */
const struct msd_scatter *msd_http_reader_rest(const struct msd_http_reader *r);
/** @n bytes were read into those buffers; they must have had room. */
void msd_http_reader_came(struct msd_http_reader *r, size_t n);
/** Free the body, or its part: it is no longer needed. */
void msd_http_reader_drop_body(struct msd_http_reader *r);
/** True if a request has begun and is not complete. */
bool msd_http_reader_is_owed(const struct msd_http_reader *r);
/** Memory in use, in bytes. */
size_t msd_http_reader_bytes(const struct msd_http_reader *r);

#endif
