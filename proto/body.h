#ifndef MSD_PROTO_BODY_H
#define MSD_PROTO_BODY_H
/*
 * The msgpack body of a frame, in msgpack-rpc's shapes:
 *   request       [0, id, method, params, options?]   params: array, options: map
 *   response      [1, id, error, result, meta?]       error: nil or [code, name, msg,
 * map?] notification  [2, method, params] Reading is a bounded scan (depth, counts
 * against bytes left, ext types and lengths, UTF-8, duplicate map keys) that allocates
 * nothing and runs before msgpack-c sees a byte: five bytes make msgpack-c 4.0.0 ask
 * for 8.6 GB (its issue 1013).
 */
#include "proto/bytes.h"
#include "proto/diag.h"

/* A client's request on a worker's channel, names written out in place of handles. */
#define MSD_MAX_FORWARDED_BODY_BYTES (MSD_MAX_BODY_BYTES + 4096u)

enum msd_body_kind { MSD_REQUEST = 0, MSD_RESPONSE = 1, MSD_NOTIFICATION = 2 };

/* Parts of a scanned body. Every span is one complete msgpack object inside the scanned
 * bytes and lives as long as they do; an absent part has n == 0. */
struct msd_body {
	enum msd_body_kind kind;
	uint32_t n_results; /* of n_handles: results of requests (result_of.h) */
	uint64_t id;        /* request, response */
	struct msd_span
		method; /* request, notification: the name's bytes, not msgpack */
	struct msd_span params;  /* request, notification: an array */
	struct msd_span options; /* request: a map */
	struct msd_span error;   /* response: nil or array */
	struct msd_span result;  /* response */
	struct msd_span meta;    /* response: a map */
	uint32_t n_tensors;      /* tensor exts in the whole body */
	uint32_t n_handles; /* exts that name an object: functions, modules, instances,
			       uploads, results of requests */
};

/** What the scan calls for each ext; see MSD_EXT_*. Return non-OK to stop the scan. */
struct msd_ext_visitor {
	/* @at: offset of the ext's data in the scanned bytes; @n: bytes of data. */
	msd_err (*visit)(void *ctx, int8_t type, size_t at, size_t n,
			 struct msd_diag *d);
	void *ctx;
};

/**
 * Scan one body. @visitor may be NULL. A response may be larger than the rest: see
 * MSD_MAX_REPLY_*. Errors: MSD_PROTOCOL with a text that names the offset and the rule.
 */
MSD_MUST_CHECK msd_err msd_body_read(struct msd_span bytes,
				     const struct msd_ext_visitor *visitor,
				     struct msd_body *ret, struct msd_diag *d);
/** The same, but a response has no more than @max_objects: it is of a worker, or of a
 * client, who has none to send. */
MSD_MUST_CHECK msd_err msd_body_read_doubted(struct msd_span bytes,
					     const struct msd_ext_visitor *visitor,
					     uint32_t max_objects, struct msd_body *ret,
					     struct msd_diag *d);
/**
 * Scan one msgpack object, a part of a body or from elsewhere (a file), with a
 * response's limits. Bytes behind it are not looked at: compare *@ret_bytes.
 */
MSD_MUST_CHECK msd_err msd_scan_object(struct msd_span bytes,
				       const struct msd_ext_visitor *visitor,
				       size_t *ret_bytes, struct msd_diag *d);

/* The error of a response, read from msd_body.error. Spans borrow from it. */
struct msd_body_error {
	msd_err code;            /* MSD_INTERNAL for a number that this build lacks */
	struct msd_span name;    /* wire name, as sent */
	struct msd_span message; /* UTF-8 */
	struct msd_span details; /* a map as msgpack; n == 0 when absent */
};

/** True and *ret when @error (of a scanned body) is not nil. */
bool msd_body_error_read(struct msd_span error, struct msd_body_error *ret);

/*
 * Writers append the envelope's beginning to @out; the caller appends the parts as
 * msgpack objects (proto/value.h). @has_tail says that options or meta will follow. The
 * id is always written in nine bytes (0xcf + big-endian u64) so that a forwarder can
 * build a prefix of fixed size.
 */
void msd_body_begin_request(struct msd_buf *out, uint64_t id, const char *method,
			    bool has_tail); /* then params[, options] */
void msd_body_begin_response(struct msd_buf *out, uint64_t id,
			     bool has_tail); /* then error, result[, meta] */
/** The same of one that is no error, in one piece: then result[, meta]. */
void msd_body_begin_result(struct msd_buf *out, uint64_t id, bool has_tail);
/** The meta of an answer that tells how long it ran and nothing else,
 * {"exec_ns": @exec_ns}, in one piece: msd_body_timed, then eight bytes. */
void msd_body_put_timed(struct msd_buf *out, uint64_t exec_ns);
#define MSD_BODY_TIMED_BYTES 10u
extern const uint8_t msd_body_timed[MSD_BODY_TIMED_BYTES];
void msd_body_begin_notification(struct msd_buf *out, const char *method); /* params */

#endif
