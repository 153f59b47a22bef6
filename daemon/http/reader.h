#ifndef MSD_HTTP_READER_H
#define MSD_HTTP_READER_H
/*
 * Bytes of a connection become requests, one after the other. It knows no socket and no
 * path; who has it decides, when the head of a request is there, how large its body may
 * be, and answers when it is whole.
 *
 *   MORE ... HEAD -> MORE ... WHOLE -> MORE ... HEAD ...     BAD: nothing follows
 *                  \-> MORE ... PART -> MORE ... WHOLE
 *
 * The body lies in one piece: a short one that came whole where it was read, any other
 * in memory of the reader's. Where who has it wants a part of it first, that is so of
 * the part, and the rest goes where he says. Everything is compared with its limit
 * before it is kept.
 */
#include <llhttp.h>

#include "daemon/http/head_scan.h"
#include "proto/bytes.h"

#define MSD_HTTP_MAX_HEAD 16384u      /* bytes: request line and fields */
#define MSD_HTTP_MAX_FIELDS 100u      /* of a request */
#define MSD_HTTP_MAX_FRAMING 1048576u /* bytes of chunks that are no body */
#define MSD_HTTP_LENT_BODY 8192u      /* of a body that stays where it was read */

enum msd_http_event {
	MSD_HTTP_MORE,
	MSD_HTTP_HEAD,
	MSD_HTTP_PART,
	MSD_HTTP_WHOLE,
	MSD_HTTP_BAD
};
enum msd_http_method {
	MSD_HTTP_GET,
	MSD_HTTP_HEAD_ONLY, /* HEAD */
	MSD_HTTP_POST,
	MSD_HTTP_OTHER
};

/* The fields that somebody here reads. */
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

/* Spans are the reader's, from HEAD until it is read on behind WHOLE; but a body that
 * is lent lies where it was read. */
struct msd_http_request {
	enum msd_http_method method;
	struct msd_span target;
	struct msd_span fields[MSD_HTTP_F_COUNT]; /* p NULL: absent */
	struct msd_span body; /* of a WHOLE one, or its PART; of a WHOLE one behind
			       * that nothing */
	uint64_t body_bytes;  /* as it says; 0 while they come in chunks */
	bool is_again;        /* its head has the bytes of that of the request before */
	bool is_chunked;
	bool has_part; /* that was told; the rest of the body goes elsewhere */
	bool keeps_alive;
	bool is_old; /* HTTP/1.0 */
	bool wants_continue;
};

struct msd_http_reader {
	struct msd_http_request request;
	uint64_t max_body; /* set at HEAD by who has it; 0 before */
	/* Likewise: so many bytes of the body are a PART, and what follows goes to
	 * `rest`. 0, or no less than the body has, or chunks: there is none. */
	uint64_t part_bytes;
	struct msd_scatter *rest; /* what has no place there is dropped */
	unsigned status;          /* of BAD: what to answer, and why. Static */
	const char *why;
	/* private */
	int state;
	llhttp_t parser;
	struct msd_head_scan scan;
	struct msd_buf head, body;
	enum msd_http_field field; /* whose value comes next */
	unsigned n_fields;
	uint64_t n_body; /* bytes of a body with a length that came */
	uint64_t n_raw;  /* bytes that came behind a head of chunks */
	uint8_t last;    /* of them */
	bool is_whole;
};

/** Of a connection of which nothing was read. */
void msd_http_reader_init(struct msd_http_reader *r);
void msd_http_reader_finish(struct msd_http_reader *r);
/** Take what is needed of @in, which begins where it had ended, up to the next event.
 * MORE: all was taken. */
enum msd_http_event msd_http_read(struct msd_http_reader *r, struct msd_span *in);
/** Where bytes of the body may be read to, beside msd_http_read(): `rest`, behind a
 * PART. NULL: there is none now. */
const struct msd_scatter *msd_http_reader_rest(const struct msd_http_reader *r);
/** @n bytes were read to there, no more than it had room for. */
void msd_http_reader_came(struct msd_http_reader *r, size_t n);
/** Nobody needs the body, or its part, any more: free it. */
void msd_http_reader_drop_body(struct msd_http_reader *r);
/** A request has begun and is not whole. */
bool msd_http_reader_is_owed(const struct msd_http_reader *r);
/** Bytes of memory that it holds. */
size_t msd_http_reader_bytes(const struct msd_http_reader *r);

#endif
