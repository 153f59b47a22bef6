#ifndef MSD_PROTO_SCAN_H
#define MSD_PROTO_SCAN_H
/*
 * The bounded walk over msgpack bytes that proto/body.h promises. Private to proto/:
 * the body reader walks the parts of one body with one scan, so that limits count over
 * all.
 */
#include "proto/body.h"

struct msd_scan {
	const uint8_t *base; /* where offsets in error texts count from */
	const uint8_t *p;
	const uint8_t *end;
	const struct msd_ext_visitor *visitor; /* may be NULL */
	uint32_t max_objects;
	uint32_t max_reply_objects; /* that instead, of a response */
	uint32_t n_objects;
	uint32_t n_tensors;
	uint32_t n_handles;
	uint32_t n_results;
	uint32_t depth; /* of arrays around what is walked */
	struct msd_diag *d;
};

/** Start at the first of @bytes, of which there must be one; with a request's limits.
 */
MSD_MUST_CHECK msd_err msd_scan_init(struct msd_scan *s, struct msd_span bytes,
				     const struct msd_ext_visitor *visitor,
				     struct msd_diag *d);
/** Walk one object; its bytes go to @ret. Errors: MSD_PROTOCOL, or the visitor's. */
MSD_MUST_CHECK msd_err msd_scan_value(struct msd_scan *s, struct msd_span *ret);
/** Fail at @at with MSD_PROTOCOL and "byte N: ..." as text. */
msd_err msd_scan_fail(struct msd_scan *s, const uint8_t *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));

#endif
