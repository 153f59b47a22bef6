/* Details of a module beyond its facts. */
#include "artifact/kind/look.h"

#include <string.h>

#include "artifact/inspect/private.h"

/* True if the facts already report damage. */
static bool has_damage(const struct msd_payload_info *info)
{
	for (size_t i = 0; i < info->n_facts; i++) {
		if (strcmp(info->facts[i].key, "damaged") == 0 ||
		    strcmp(info->facts[i].key, "unsupported") == 0)
			return true;
	}
	return false;
}

msd_err msd_inspect_look(const struct msd_tree_module *from, enum msd_era era,
			 struct msd_inspect_module *m, struct msd_diag *d)
{
	const struct msd_look *look = msd_look_find(from->kind);
	struct msd_diag why = {0};
	msd_err err = MSD_OK;

	if (look != NULL)
		err = look->read(from->payload, era, &m->gpu, &m->model, &why);
	if (err == MSD_NOMEM ||
	    (err != MSD_OK && !has_damage(&m->info) &&
	     !msd_payload_info_add(&m->info,
				   err == MSD_UNSUPPORTED ? "unsupported" : "damaged",
				   "%s", msd_diag_text(&why)))) {
		err = msd_diag_set(d, MSD_NOMEM, "out of memory inspecting the file");
	} else {
		err = MSD_OK;
	}
	msd_diag_finish(&why);
	return err;
}
