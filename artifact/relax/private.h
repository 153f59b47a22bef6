#ifndef MSD_ARTIFACT_RELAX_PRIVATE_H
#define MSD_ARTIFACT_RELAX_PRIVATE_H
/* Private declarations of the relax_*.c files. */
#include "artifact/relax/image.h"

/** Check all that msd_relax_image_read() promises about functions and their code. */
MSD_MUST_CHECK msd_err msd_relax_check_code(const struct msd_relax_image *img,
					    struct msd_diag *d);

#endif
