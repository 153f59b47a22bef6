#ifndef MSD_CLI_STATIC_GRAPH_H
#define MSD_CLI_STATIC_GRAPH_H
/* Model files of frameworks, read by the serializer whose format they look like. */
#include "client/cli/cli.h"
#include "proto/bytes.h"
#include "proto/diag.h"

/** Does a serializer know a file that begins like @file? */
bool msd_static_graph_is(struct msd_span file);
/** Append what `inspect` with the options of @cli says of @file. */
MSD_MUST_CHECK msd_err msd_static_graph_inspect(const struct msd_cli *cli,
						struct msd_span file,
						struct msd_buf *out,
						struct msd_diag *d);

/** The format of files whose names end as @path does, by which
 * modser_serializer_named() finds its serializer; NULL: none. */
const char *msd_static_graph_format(const char *path);
/** Make the bytes of @file, a model, ones of @format. */
MSD_MUST_CHECK msd_err msd_static_graph_convert(struct msd_span file,
						const char *format, struct msd_buf *out,
						struct msd_diag *d);
/** Take the weights out of @model, which is of @format, into @ret_data, a file that it
 * calls @name from then on. */
MSD_MUST_CHECK msd_err msd_static_graph_split(const char *format, const char *name,
					      struct msd_buf *model,
					      struct msd_buf *ret_data,
					      struct msd_diag *d);
#endif
