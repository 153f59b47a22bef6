#ifndef MSD_PROTO_BODY_H
#define MSD_PROTO_BODY_H
/*
 * The msgpack body of a frame, in the shapes of msgpack-rpc:
 *
 *   request       [0, id, method, params, options?]  params: array, options: map
 *   response      [1, id, error, result, meta?]      error: nil or [code, name, ...]
 *   notification  [2, method, params]
 *
 * An error is [code, name, msg, map?]. A bounded scan checks depth, counts against
 * the bytes left, ext types and lengths, UTF-8 and duplicate map keys. It allocates
 * nothing and runs before msgpack-c sees a byte: five bytes make msgpack-c 4.0.0 ask
 * for 8.6 GB (its issue 1013).
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/* A client's request on a worker's channel, with names in place of handles. */
#define MSD_MAX_FORWARDED_BODY_BYTES (MSD_MAX_BODY_BYTES + 4096u)

enum msd_body_kind { MSD_REQUEST = 0, MSD_RESPONSE = 1, MSD_NOTIFICATION = 2 };

/* Parts of a scanned body. Every span is one complete msgpack object inside the
 * scanned bytes and is valid as long as they are; an absent part has n == 0. */
struct msd_body {
	enum msd_body_kind kind;
	uint32_t n_results; /* of n_handles: results of requests (result_of.h) */
	uint64_t id;        /* request, response */
	struct msd_span
		method; /* request, notification: bytes of the name, not msgpack */
	struct msd_span params;  /* request, notification: an array */
	struct msd_span options; /* request: a map */
	struct msd_span error;   /* response: nil or array */
	struct msd_span result;  /* response */
	struct msd_span meta;    /* response: a map */
	uint32_t n_tensors;      /* tensor exts in the whole body */
	uint32_t n_handles; /* exts that name an object: functions, modules, instances,
			       uploads, results of requests */
	uint32_t n_objects; /* exts of the feature "objects": objects, marks of maps */
};

/**
 * Called by the scan for each ext; see MSD_EXT_*. A result other than MSD_OK stops
 * the scan.
 */
struct msd_ext_visitor {
	/* @at: offset of the ext's data in the scanned bytes; @n: bytes of data. */
	msd_err (*visit)(void *ctx, int8_t type, size_t at, size_t n,
			 struct msd_diag *d);
	void *ctx;
};

/**
 * Scan one body. @visitor may be NULL. A response may be larger than the other kinds:
 * see MSD_MAX_REPLY_*. Errors: MSD_PROTOCOL with a text that names the offset and the
 * rule.
 */
MSD_MUST_CHECK msd_err msd_body_read(struct msd_span bytes,
				     const struct msd_ext_visitor *visitor,
				     struct msd_body *ret, struct msd_diag *d);
/**
 * The same, but a response may have at most @max_objects. For responses of a worker
 * or a client, which are not trusted.
 */
MSD_MUST_CHECK msd_err msd_body_read_doubted(struct msd_span bytes,
					     const struct msd_ext_visitor *visitor,
					     uint32_t max_objects, struct msd_body *ret,
					     struct msd_diag *d);
/**
 * Scan one msgpack object, a part of a body or from another source (a file), with the
 * limits of a response. Bytes after it are ignored: compare *@ret_bytes.
 */
MSD_MUST_CHECK msd_err msd_scan_object(struct msd_span bytes,
				       const struct msd_ext_visitor *visitor,
				       size_t *ret_bytes, struct msd_diag *d);

/* The error of a response, read from msd_body.error. Spans borrow from it. */
struct msd_body_error {
	msd_err code; /* MSD_INTERNAL for a number that this build does not know */
	struct msd_span name;    /* wire name, as sent */
	struct msd_span message; /* UTF-8 */
	struct msd_span details; /* a map as msgpack; n == 0 if absent */
};

/** True, and *ret is set, if @error (of a scanned body) is not nil. */
bool msd_body_error_read(struct msd_span error, struct msd_body_error *ret);

/*
 * Writers append the start of the envelope to @out; the caller appends the parts as
 * msgpack objects (proto/value.h). @has_tail: options or meta will follow. The id
 * always has nine bytes (0xcf + big-endian u64), so that a forwarder can build a
 * prefix of fixed size.
 */
void msd_body_begin_request(struct msd_buf *out, uint64_t id, const char *method,
			    bool has_tail); /* then params[, options] */
void msd_body_begin_response(struct msd_buf *out, uint64_t id,
			     bool has_tail); /* then error, result[, meta] */
/** The same for a response without an error, in one write: then result[, meta]. */
void msd_body_begin_result(struct msd_buf *out, uint64_t id, bool has_tail);
/**
 * Append a meta with only the execution time, {"exec_ns": @exec_ns}, in one write:
 * msd_body_timed, then eight bytes.
 */
void msd_body_put_timed(struct msd_buf *out, uint64_t exec_ns);
#define MSD_BODY_TIMED_BYTES 10u
extern const uint8_t msd_body_timed[MSD_BODY_TIMED_BYTES];
/** The same for {"varied": true, "exec_ns": @exec_ns}. */
void msd_body_put_varied(struct msd_buf *out, uint64_t exec_ns);
#define MSD_BODY_VARIED_BYTES 18u
extern const uint8_t msd_body_varied[MSD_BODY_VARIED_BYTES];
void msd_body_begin_notification(struct msd_buf *out, const char *method); /* params */

#endif
