#ifndef MSD_CLIENT_CALL_OPTIONS_H
#define MSD_CLIENT_CALL_OPTIONS_H
/* The options of a request, as the map after its params (PROTOCOL.md). */
#include "client/modser.h"
#include "proto/base/bytes.h"

/** Number of pairs in that map; 0: the map is omitted. */
size_t msd_call_options_count(const modser_options *o);
/**
 * Append the map. @n_args: arguments of a call after its target, which may have
 * names.
 */
void msd_call_options_put(struct msd_buf *out, const modser_options *o, size_t n_args);

#endif
