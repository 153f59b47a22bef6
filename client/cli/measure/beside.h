#ifndef MSD_CLI_BESIDE_H
#define MSD_CLI_BESIDE_H
/* The other files of a framework's model: its format wants them (Caffe), or the model
 * names them (external data of ONNX). */
#include "client/cli/cli.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * Make one file of a model that comes as the @n files @paths, the first of which was
 * read into @file, and those of --with. A format of several files gets all of them. If
 * @file refers to external data, replace it with a single file
 * that contains all of it. The data is searched by name in the files of --with, else
 * below @path's folder; a model cannot reach any other file. Errors: those of the
 * serializer and of msd_file_read_beneath(), MSD_BAD_REQUEST (a --with that @file
 * does not name).
 */
MSD_MUST_CHECK msd_err msd_model_join(const struct msd_cli *cli,
				      const char *const *paths, size_t n,
				      struct msd_buf *file, struct msd_diag *d);

#endif
