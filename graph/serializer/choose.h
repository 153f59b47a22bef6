#ifndef MSD_GRAPH_SERIALIZER_CHOOSE_H
#define MSD_GRAPH_SERIALIZER_CHOOSE_H
/* Select the serializer that reads a file: by the format that the user names, else by
 * the files' bytes. */
#include "graph/modser_graph.h"
#include "graph/serializer/model_files.h"
#include "proto/base/diag.h"

/**
 * Release the result with modser_serializer_unref(). @format is "" if the user named
 * none. Errors: MSD_BAD_ARGUMENT (unknown format; the text lists the known ones),
 * MSD_BAD_ARTIFACT (the bytes match no format), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_serializer_choose(const char *format,
					     const struct msd_model_files *files,
					     modser_serializer **ret,
					     struct msd_diag *d);
/**
 * The serializer whose format @files look like: one that wants several files and knows
 * each of them, else the first that knows one. NULL if there is none.
 */
modser_serializer *msd_serializer_recognize(const struct msd_model_files *files);
/**
 * Reading @files as @format failed with @err and the text in @d. If the bytes look
 * like another format, prepend its name to the text. Returns @err.
 */
msd_err msd_serializer_blame(const char *format, const struct msd_model_files *files,
			     msd_err err, struct msd_diag *d);

#endif
