#ifndef MSD_RUNTIME_MODULE_C_NAME_H
#define MSD_RUNTIME_MODULE_C_NAME_H
#include <stdbool.h>

#include "proto/bytes.h"

/** Whether @own is what TVM made of @name: a C identifier, in which what is no letter
 * and no digit has become '_'. The caller may know either. */
bool msd_c_name_is(struct msd_span name, const char *own);

#endif
