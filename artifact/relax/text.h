#ifndef MSD_ARTIFACT_RELAX_TEXT_H
#define MSD_ARTIFACT_RELAX_TEXT_H
/* A VM image as text: functions, constants, instructions. */
#include "artifact/relax/image.h"

/**
 * Append the listing of a checked image to @out. Instructions are numbered as jumps
 * count them: "   3 call add(r0, c2, 17) -> r4", "   4 if r4 else +3", "   5 goto -2",
 * "   6 ret r1".
 */
void msd_relax_text(const struct msd_relax_image *img, struct msd_buf *out);

#endif
