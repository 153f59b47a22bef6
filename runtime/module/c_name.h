#ifndef MSD_RUNTIME_MODULE_C_NAME_H
#define MSD_RUNTIME_MODULE_C_NAME_H
#include <stdbool.h>

#include "proto/base/bytes.h"

/**
 * True if @own is @name as converted by TVM to a C identifier, with '_' for each
 * character that is not a letter or digit. The caller may use either.
 */
bool msd_c_name_is(struct msd_span name, const char *own);

#endif
