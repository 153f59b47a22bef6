#ifndef MSD_ARTIFACT_INSPECT_PRIVATE_H
#define MSD_ARTIFACT_INSPECT_PRIVATE_H
/* Private declarations of the inspect*.c files. */
#include "artifact/inspect/inspect.h"

/** Fill @in->signatures, all NULL before, from the texts in the file. MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_inspect_signatures(struct msd_inspect *in,
					      const struct msd_elf *elf,
					      struct msd_diag *d);

/**
 * Fill @m->gpu and @m->model from its payload. Read errors become a fact, as in
 * msd_payload_describe(). Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_inspect_look(const struct msd_tree_module *from,
					enum msd_era era, struct msd_inspect_module *m,
					struct msd_diag *d);

#endif
