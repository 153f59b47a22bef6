#ifndef MSD_RUNTIME_DEVICE_BUILD_LOG_H
#define MSD_RUNTIME_DEVICE_BUILD_LOG_H
/* What a driver's compiler says of code that it does not take, in an error's text, and
 * how long compilers have worked in this process. */
#include "proto/diag.h"

#define MSD_BUILD_LOG_MAX 16384u /* bytes of it that are kept */

/** Append @log, a NUL-terminated text, to the error in @d without the blanks and the
 * line ends around it; one that is empty or NULL adds nothing. Returns the error. */
msd_err msd_build_log_add(struct msd_diag *d, msd_err err, const char *log);

/** A compiler has worked since @begin_ns (proto/clock.h). Any thread. */
void msd_build_note(uint64_t begin_ns);
/** Milliseconds of all of them; 0: no code was compiled, it was ready or kept. */
uint64_t msd_build_ms(void);

#endif
