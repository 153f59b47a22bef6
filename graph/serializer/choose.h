#ifndef MSD_GRAPH_SERIALIZER_CHOOSE_H
#define MSD_GRAPH_SERIALIZER_CHOOSE_H
/* Which serializer reads a file: that of the format that somebody said, else the one
 * whose format its bytes look like. */
#include "graph/modser_graph.h"
#include "proto/bytes.h"
#include "proto/diag.h"

/**
 * To be given back with modser_serializer_unref(). @format is "" when nobody said one.
 * Errors: MSD_BAD_ARGUMENT (no such format; the text lists those that there are),
 * MSD_BAD_ARTIFACT (the bytes are of none), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_serializer_choose(const char *format, struct msd_span file,
					     modser_serializer **ret,
					     struct msd_diag *d);
/** @file was read as @format and refused with @err, of which @d tells: put in front
 * what its bytes look like, where that is another format. Returns @err. */
msd_err msd_serializer_blame(const char *format, struct msd_span file, msd_err err,
			     struct msd_diag *d);

#endif
