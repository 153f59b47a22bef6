#ifndef MSD_CLI_BESIDE_H
#define MSD_CLI_BESIDE_H
/* The files beside a framework's model that it names: ONNX's external data. */
#include "client/cli/cli.h"
#include "proto/bytes.h"
#include "proto/diag.h"

/**
 * When @file, which was read from @path, names further files, let it become one with
 * all of them in it. They are those of --with that are called so, else those beneath
 * @path's folder: a model reaches no other file. Errors: the serializer's, those of
 * msd_file_read_beneath(), MSD_BAD_REQUEST (a --with that @file does not name).
 */
MSD_MUST_CHECK msd_err msd_beside_join(const struct msd_cli *cli, const char *path,
				       struct msd_buf *file, struct msd_diag *d);

#endif
