#ifndef MSD_SUPERVISOR_INFER_CACHE_H
#define MSD_SUPERVISOR_INFER_CACHE_H
/* Reply cache of an `infer`: if the worker's response is the same except for tensor
 * bytes, and all tensors are binary, the JSON of the reply is the same. */
#include <stdbool.h>

#include "daemon/supervisor/http/infer/infer_result.h"
#include "proto/recognise.h"

/**
 * True if @told has a reply for the worker's response @o. *@ret gets it; @told owns
 * its text and tail, valid until the next call.
 */
bool msd_infer_cache_find(struct msd_memory *told, const struct msd_out *o,
			  struct msd_infer_answer *ret);
/** Store @a as the reply to @o; it must not contain tensors as JSON. */
void msd_infer_cache_keep(struct msd_memory *told, const struct msd_out *o,
			  const struct msd_infer_answer *a);

#endif
