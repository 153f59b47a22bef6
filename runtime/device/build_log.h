#ifndef MSD_RUNTIME_DEVICE_BUILD_LOG_H
#define MSD_RUNTIME_DEVICE_BUILD_LOG_H
/* The log of a driver's compiler for code that it rejects, appended to an error text,
 * and the total compile time of this process. */
#include "proto/base/diag.h"

#define MSD_BUILD_LOG_MAX 16384u /* kept bytes of the log */

/**
 * Append @log, a NUL-terminated text, to the error in @d without leading and trailing
 * blanks and line ends. An empty or NULL log adds nothing. Returns the error.
 */
msd_err msd_build_log_add(struct msd_diag *d, msd_err err, const char *log);

/** Record that a compiler ran from @begin_ns until now (proto/base/clock.h). Any
 * thread. */
void msd_build_note(uint64_t begin_ns);
/**
 * Total compile time in milliseconds; 0: no code was compiled, it was prebuilt or
 * cached.
 */
uint64_t msd_build_ms(void);

#endif
