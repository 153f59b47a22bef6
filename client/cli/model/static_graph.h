#ifndef MSD_CLI_STATIC_GRAPH_H
#define MSD_CLI_STATIC_GRAPH_H
/* Model files of frameworks, read by the serializer of their format. */
#include "client/cli/cli.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/** True if a serializer knows the format of @file by its first bytes. */
bool msd_static_graph_is(struct msd_span file);
/** Append the output of `inspect` for @file, with the options of @cli. */
MSD_MUST_CHECK msd_err msd_static_graph_inspect(const struct msd_cli *cli,
						struct msd_span file,
						struct msd_buf *out,
						struct msd_diag *d);

/** The format for file names like @path, for modser_serializer_named(); NULL: none. */
const char *msd_static_graph_format(const char *path);
/** Convert @file, a model in the format of @cli (--format), to @format. */
MSD_MUST_CHECK msd_err msd_static_graph_convert(const struct msd_cli *cli,
						struct msd_span file,
						const char *format, struct msd_buf *out,
						struct msd_diag *d);
/**
 * Move the weights of @model, in @format, to @ret_data; the model then refers to them
 * as file @name.
 */
MSD_MUST_CHECK msd_err msd_static_graph_split(const char *format, const char *name,
					      struct msd_buf *model,
					      struct msd_buf *ret_data,
					      struct msd_diag *d);
#endif
