#ifndef MSD_PROTO_SCAN_H
#define MSD_PROTO_SCAN_H
/*
 * The bounded walk over msgpack bytes that proto/body.h describes. Private to proto/:
 * the body reader walks all parts of one body with one scan, so the limits apply to
 * their sum.
 */
#include "proto/body.h"

struct msd_scan {
	const uint8_t *base; /* origin of the offsets in error texts */
	const uint8_t *p;
	const uint8_t *end;
	const struct msd_ext_visitor *visitor; /* may be NULL */
	uint32_t max_objects;
	uint32_t max_reply_objects; /* limit for a response, in place of the default */
	uint32_t n_objects;
	uint32_t n_tensors;
	uint32_t n_handles;
	uint32_t n_objects_kept;
	uint32_t n_results;
	uint32_t depth; /* arrays around the walked object */
	struct msd_diag *d;
};

/**
 * Start at the first of @bytes, which must not be empty, with the limits of a
 * request.
 */
MSD_MUST_CHECK msd_err msd_scan_init(struct msd_scan *s, struct msd_span bytes,
				     const struct msd_ext_visitor *visitor,
				     struct msd_diag *d);
/**
 * Walk one object; its bytes are returned in @ret. Errors: MSD_PROTOCOL, or the
 * visitor's.
 */
MSD_MUST_CHECK msd_err msd_scan_value(struct msd_scan *s, struct msd_span *ret);
/** Fail at @at with MSD_PROTOCOL and "byte N: ..." as text. */
msd_err msd_scan_fail(struct msd_scan *s, const uint8_t *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));

#endif
