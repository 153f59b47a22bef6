#ifndef MSD_RUNTIME_EXECUTOR_RELAX_CONTEXT_H
#define MSD_RUNTIME_EXECUTOR_RELAX_CONTEXT_H
/* The texts by which Relax code says whose value a check is about. */
#include "proto/bytes.h"

/**
 * Whether @text is of a check of a parameter of @function, as the compiler writes it:
 * "ErrorContext(fn=main, loc=param[1], param=y, annotation=R.Tensor((n,), ...)) expect
 * ...". Then what it says goes to @out as "argument 1 (y: R.Tensor((n,), ...)): expect
 * ...".
 */
bool msd_relax_context_argument(const char *text, const char *function,
				struct msd_buf *out);

/**
 * When the thread's error is of a check that @function makes of its own parameter,
 * which it was called with from outside: the argument is at fault, and where the code
 * checks it helps nobody. Raised anew as MSD_BAD_ARGUMENT then, else left as it was:
 * false.
 */
bool msd_relax_blame_argument(const char *function);

#endif
