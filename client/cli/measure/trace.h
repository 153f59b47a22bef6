#ifndef MSD_CLI_TRACE_H
#define MSD_CLI_TRACE_H
/* Formats the times of one call in the daemon as text. */
#include "client/modser.h"
#include "proto/base/bytes.h"

/**
 * One line a stage, for people with its share of the total; fields separated by a
 * tab.
 */
void msd_trace_put(struct msd_buf *out, const modser_trace *t, bool for_people);
/** The same as a JSON object, without a newline. */
void msd_trace_json(struct msd_buf *out, const modser_trace *t);

#endif
