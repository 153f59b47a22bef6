/* Files that belong to a library and are not modules: opening one fails and tells how
 * to load it. */
#include "artifact/inspect/companion.h"

#include "runtime/load/format.h"

static msd_err refuse(struct msd_loaded *m, const struct msd_load_source *from,
		      struct msd_diag *d)
{
	(void)m;
	return msd_companion_refuse(from->file, d);
}

const struct msd_format msd_format_companion = {
	.name = "file beside a library",
	.is = msd_companion_is,
	.open = refuse,
};
