#ifndef MSD_PACK_MANIFEST_PRIVATE_H
#define MSD_PACK_MANIFEST_PRIVATE_H

#include "artifact/tree/write.h"
/* Private declarations of manifest.c and manifest_read.c. */

struct msd_manifest_release {
	const char *name; /* the oldest release with this layout */
	enum msd_era era;
	enum msd_tree_style style;
};

#define MSD_MANIFEST_RELEASES 5
extern const struct msd_manifest_release msd_manifest_releases[MSD_MANIFEST_RELEASES];

#endif
