#ifndef MSD_CLIENT_CALL_OPTIONS_H
#define MSD_CLIENT_CALL_OPTIONS_H
/* What a caller wants of a request, as the map behind its params (PROTOCOL.md). */
#include "client/modser.h"
#include "proto/bytes.h"

/** How many pairs that map has; 0: it is left out. */
size_t msd_call_options_count(const modser_options *o);
/** Append it. @n_args: arguments of a call, behind its target, which may have names. */
void msd_call_options_put(struct msd_buf *out, const modser_options *o, size_t n_args);

#endif
