#ifndef MSD_SUPERVISOR_INFER_TOLD_H
#define MSD_SUPERVISOR_INFER_TOLD_H
/*
 * What was answered to an `infer` before, in case that its worker says the same again:
 * an answer whose tensors all go as bytes has the same JSON then, whatever the bytes
 * are.
 */
#include <stdbool.h>

#include "daemon/supervisor/http/infer_result.h"
#include "proto/recognise.h"

/** The worker's answer in @o is one that @told knows: it is in *@ret, whose text and
 * tail are @told's, until the next one is looked for. */
bool msd_infer_told_find(struct msd_memory *told, const struct msd_out *o,
			 struct msd_infer_answer *ret);
/** @a is what is answered to @o, and without tensors as JSON. */
void msd_infer_told_keep(struct msd_memory *told, const struct msd_out *o,
			 const struct msd_infer_answer *a);

#endif
