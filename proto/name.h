#ifndef MSD_PROTO_NAME_H
#define MSD_PROTO_NAME_H
/* Names of modules and of what is called: "resnet18", "resnet18:main". */
#include "proto/bytes.h"
#include "proto/diag.h"

/** A module's name: [A-Za-z0-9][A-Za-z0-9._-]*, at most MSD_MAX_NAME_BYTES bytes. */
bool msd_name_valid(struct msd_span name);
/** The same as an error, MSD_BAD_REQUEST, which says what was expected. */
MSD_MUST_CHECK msd_err msd_name_check(struct msd_span name, struct msd_diag *d);
/**
 * Split "module:function" at the first colon; both spans borrow from @target. False
 * when there is no colon, the module's name is not valid, or the function's is empty or
 * longer than MSD_MAX_FUNC_NAME_BYTES. Function names are otherwise the library's
 * business.
 */
MSD_MUST_CHECK bool msd_target_split(struct msd_span target,
				     struct msd_span *ret_module,
				     struct msd_span *ret_function);

#endif
