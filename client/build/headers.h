#ifndef MSD_CLI_HEADERS_H
#define MSD_CLI_HEADERS_H
#include "client/build/compiler.h"

/**
 * Write the headers that TVM's generated C code includes, for both ABIs, to the
 * folder of @c. Add the folder to the include path, after the command's own; also add
 * an empty folder "given" for more headers. Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_headers_write(struct msd_compiler *c, struct msd_diag *d);

#endif
