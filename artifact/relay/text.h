#ifndef MSD_ARTIFACT_RELAY_TEXT_H
#define MSD_ARTIFACT_RELAY_TEXT_H
/* A relay VM image as text: constants, functions, instructions. */
#include "artifact/relay/image.h"

/**
 * Append the listing of a checked image to @out, in the terms of msd_relax_text():
 * "   6 call_packed add(r0, r5) -> r4", "   7 if r1 == r2 else +3", "  19 ret r16".
 */
void msd_relay_text(const struct msd_relay_image *img, struct msd_buf *out);

#endif
