#ifndef MSD_PROTO_RESULT_OF_H
#define MSD_PROTO_RESULT_OF_H
/*
 * Results of earlier requests where a request wants values (PROTOCOL.md section 6): ext
 * data of u64 id, then u32 for each step into the result, an index in an array.
 */
#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/limits.h"

struct msd_result_of {
	uint64_t id;
	uint32_t n_path;
	uint32_t path[MSD_MAX_RESULT_PATH];
};

void msd_pack_result_of(struct msd_buf *out, const struct msd_result_of *r);
/**
 * Go behind the next one in @c, bytes that the scan has passed; those in front of it go
 * to @ret_before. False: there is none, and @ret_before is all that was left.
 */
MSD_MUST_CHECK bool msd_result_of_next(struct msd_cur *c, struct msd_span *ret_before,
				       struct msd_result_of *ret);
/** The part of @result, a scanned object, that @r's path leads to. Errors:
 * MSD_BAD_REQUEST, naming the step that leads nowhere. */
MSD_MUST_CHECK msd_err msd_result_of_pick(const struct msd_result_of *r,
					  struct msd_span result, struct msd_span *ret,
					  struct msd_diag *d);

#endif
