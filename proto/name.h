#ifndef MSD_PROTO_NAME_H
#define MSD_PROTO_NAME_H
/* Names of modules and call targets: "resnet18", "resnet18:main". */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/** A module's name: [A-Za-z0-9][A-Za-z0-9._-]*, at most MSD_MAX_NAME_BYTES bytes. */
bool msd_name_valid(struct msd_span name);
/** The same as an error, MSD_BAD_REQUEST, with the expected form. */
MSD_MUST_CHECK msd_err msd_name_check(struct msd_span name, struct msd_diag *d);
/**
 * Split "module:function" at the first colon; both spans borrow from @target. False
 * if there is no colon, the module name is invalid, or the function name is empty or
 * longer than MSD_MAX_FUNC_NAME_BYTES. Otherwise the library decides about function
 * names.
 */
MSD_MUST_CHECK bool msd_target_split(struct msd_span target,
				     struct msd_span *ret_module,
				     struct msd_span *ret_function);

#endif
