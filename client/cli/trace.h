#ifndef MSD_CLI_TRACE_H
#define MSD_CLI_TRACE_H
/* Where the time of one call went in the daemon, as text. */
#include "client/modser.h"
#include "proto/bytes.h"

/** A line a stage, with its part of the whole for people; fields parted by a tab. */
void msd_trace_put(struct msd_buf *out, const modser_trace *t, bool for_people);
/** The same as a JSON object, without a newline. */
void msd_trace_json(struct msd_buf *out, const modser_trace *t);

#endif
