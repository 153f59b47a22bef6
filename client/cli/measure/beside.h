#ifndef MSD_CLI_BESIDE_H
#define MSD_CLI_BESIDE_H
/* External data of a framework's model (ONNX). */
#include "client/cli/cli.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * If @file, read from @path, refers to external data, replace it with a single file
 * that contains all of it. The data is searched by name in the files of --with, else
 * below @path's folder; a model cannot reach any other file. Errors: those of the
 * serializer and of msd_file_read_beneath(), MSD_BAD_REQUEST (a --with that @file
 * does not name).
 */
MSD_MUST_CHECK msd_err msd_external_data_join(const struct msd_cli *cli,
					      const char *path, struct msd_buf *file,
					      struct msd_diag *d);

#endif
