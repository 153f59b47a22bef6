#ifndef MSD_RUNTIME_EXECUTOR_RELAX_CONTEXT_H
#define MSD_RUNTIME_EXECUTOR_RELAX_CONTEXT_H
/* Context texts of Relax checks, which name the value that a check is about. */
#include "proto/base/bytes.h"

/**
 * True if @text is from a check of a parameter of @function, as the compiler writes
 * it: "ErrorContext(fn=main, loc=param[1], param=y, annotation=R.Tensor((n,), ...))
 * expect ...". Then @out gets "argument 1 (y: R.Tensor((n,), ...)): expect ...".
 */
bool msd_relax_context_argument(const char *text, const char *function,
				struct msd_buf *out);

/**
 * Handle an error of a check that @function, called by a client, makes of its own
 * parameter. The argument is wrong, and the location of the check is useless. The
 * error is raised again as MSD_BAD_ARGUMENT: true. Any other error stays unchanged:
 * false.
 */
bool msd_relax_blame_argument(const char *function);

#endif
