#ifndef MSD_ARTIFACT_MLF_OPERATOR_H
#define MSD_ARTIFACT_MLF_OPERATOR_H
/* Operators of an archive of style "operator": their arguments and their own memory. */
#include "proto/base/bytes.h"

struct json_t;

/**
 * Append "NAME(ARGUMENTS), within MEMORY"; "?" if the list does not mark which of the
 * @tensors are arguments.
 */
void msd_mlf_put_operator(const char *name, struct json_t *tensors,
			  struct msd_buf *out);

#endif
