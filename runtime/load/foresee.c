#include "runtime/load/foresee.h"

#include "artifact/elf/elf.h"
#include "artifact/elf/era.h"
#include "artifact/tree/tree.h"
#include "runtime/device/device.h"
#include "runtime/kind/kinds.h"

static bool is_placed(struct msd_span kind)
{
	return msd_device_ops_of_kind(kind) != NULL &&
	       msd_node_kind_find(kind)->ops->place != NULL;
}

struct msd_device msd_foresee_device(struct msd_span file, enum msd_abi_word word)
{
	struct msd_device ret = {MSD_DEV_CPU, 0};
	struct msd_elf elf = {0};
	struct msd_tree tree = {0};
	enum msd_era era;

	/* Only libraries have device code. Errors in the file are reported when it is
	 * opened. */
	if (msd_elf_read(file, &elf, NULL) == MSD_OK &&
	    msd_era_choose(&elf, word, &era, NULL) == MSD_OK && era != MSD_ERA_NONE &&
	    msd_tree_read_library(&elf, era, &tree, NULL) == MSD_OK) {
		for (uint32_t i = tree.n_modules; i-- > 0;) {
			const struct msd_span kind = tree.modules[i].kind;

			if (is_placed(kind))
				ret.type = msd_device_ops_of_kind(kind)->type;
		}
	}
	msd_tree_finish(&tree);
	msd_elf_finish(&elf);
	return ret;
}
