#ifndef MSD_HTTP_READER_H
#define MSD_HTTP_READER_H
/*
 * Bytes of a connection become requests, one after the other. It knows no socket and no
 * path; who has it decides, when the head of a request is there, how large its body may
 * be, and answers when it is whole.
 *
 *   MORE ... HEAD -> MORE ... WHOLE -> MORE ... HEAD ...     BAD: nothing follows
 *
 * The body lies in one piece: a short one that came whole where it was read, any other
 * in memory of the reader's. Everything is compared with its limit before it is kept.
 */
#include <llhttp.h>

#include "daemon/http/head_scan.h"
#include "proto/bytes.h"

#define MSD_HTTP_MAX_HEAD 16384u      /* bytes: request line and fields */
#define MSD_HTTP_MAX_FIELDS 100u      /* of a request */
#define MSD_HTTP_MAX_FRAMING 1048576u /* bytes of chunks that are no body */
#define MSD_HTTP_LENT_BODY 8192u      /* of a body that stays where it was read */

enum msd_http_event { MSD_HTTP_MORE, MSD_HTTP_HEAD, MSD_HTTP_WHOLE, MSD_HTTP_BAD };
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

/* Spans are the reader's, from HEAD until it is read on behind WHOLE; those of the body
 * are so from msd_http_reader_keep_body() on, and whoever's the bytes are before. */
struct msd_http_request {
	enum msd_http_method method;
	struct msd_span target;
	struct msd_span fields[MSD_HTTP_F_COUNT]; /* p NULL: absent */
	struct msd_span body;                     /* of a WHOLE one */
	uint64_t body_bytes; /* as it says; 0 while they come in chunks */
	bool is_again;       /* its head has the bytes of that of the request before */
	bool is_chunked;
	bool keeps_alive;
	bool is_old; /* HTTP/1.0 */
	bool wants_continue;
};

struct msd_http_reader {
	struct msd_http_request request;
	uint64_t max_body; /* set at HEAD by who has it; 0 before */
	unsigned status;   /* of BAD: what to answer, and why. Static */
	const char *why;
	/* private */
	int state;
	llhttp_t parser;
	struct msd_head_scan scan;
	struct msd_buf head, body;
	enum msd_http_field field; /* whose value comes next */
	unsigned n_fields;
	uint64_t n_raw; /* bytes that came behind the head */
	uint8_t last;   /* of them */
	bool is_whole;
};

/** Of a connection of which nothing was read. */
void msd_http_reader_init(struct msd_http_reader *r);
void msd_http_reader_finish(struct msd_http_reader *r);
/** Take what is needed of @in, which begins where it had ended, up to the next event.
 * MORE: all was taken. */
enum msd_http_event msd_http_read(struct msd_http_reader *r, struct msd_span *in);
/** The body of the whole request is wanted beyond this turn: it is the reader's from
 * here on, maybe elsewhere. False: memory is short. */
bool msd_http_reader_keep_body(struct msd_http_reader *r);
/** Nobody needs the body of the whole request any more: free it. */
void msd_http_reader_drop_body(struct msd_http_reader *r);
/** A request has begun and is not whole. */
bool msd_http_reader_is_owed(const struct msd_http_reader *r);
/** Bytes of memory that it holds. */
size_t msd_http_reader_bytes(const struct msd_http_reader *r);

#endif
