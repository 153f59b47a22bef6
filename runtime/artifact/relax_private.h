#ifndef MSD_ARTIFACT_RELAX_PRIVATE_H
#define MSD_ARTIFACT_RELAX_PRIVATE_H
/* What the relax_*.c files share; nobody else includes this. */
#include "runtime/artifact/relax_image.h"

/** Check all that msd_relax_image_read() promises about functions and their code. */
MSD_MUST_CHECK msd_err msd_relax_check_code(const struct msd_relax_image *img,
					    struct msd_diag *d);

#define MSD_RELAX_PARAM "modserd.param:" /* a text constant that names a tensor */
/** The tag of a text constant in images of @era. */
int32_t msd_relax_text_tag(enum msd_era era);

#endif
