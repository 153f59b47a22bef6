#ifndef MSD_PROTO_RESULT_OF_H
#define MSD_PROTO_RESULT_OF_H
/* Results of earlier requests as values of a request (PROTOCOL.md section 6). Ext
 * data: u64 id, then a u32 array index for each step into the result. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/limits.h"

struct msd_result_of {
	uint64_t id;
	uint32_t n_path;
	uint32_t path[MSD_MAX_RESULT_PATH];
};

void msd_pack_result_of(struct msd_buf *out, const struct msd_result_of *r);
/**
 * Advance @c, scanned bytes, past the next reference; the bytes before it are in
 * @ret_before. False if there is none: then @ret_before is the whole rest.
 */
MSD_MUST_CHECK bool msd_result_of_next(struct msd_cur *c, struct msd_span *ret_before,
				       struct msd_result_of *ret);
/**
 * The part of @result, a scanned object, at @r's path. Errors: MSD_BAD_REQUEST,
 * naming the step that does not exist.
 */
MSD_MUST_CHECK msd_err msd_result_of_pick(const struct msd_result_of *r,
					  struct msd_span result, struct msd_span *ret,
					  struct msd_diag *d);

#endif
