#ifndef MSD_ARTIFACT_PARAMS_MD5_H
#define MSD_ARTIFACT_PARAMS_MD5_H
/* MD5 of several byte ranges at once: the ranges share vector registers. It detects
 * damage, not attacks. */
#include "proto/base/bytes.h"

#define MSD_MD5_BYTES 16

struct msd_md5 {
	uint8_t b[MSD_MD5_BYTES];
};

/** Hash @n ranges; ret[i] belongs to spans[i]. Fast for ranges of equal size. */
void msd_md5_of(const struct msd_span *spans, size_t n, struct msd_md5 *ret);
/** Read 32 hexadecimal digits; false if @text is anything else. */
MSD_MUST_CHECK bool msd_md5_parse(struct msd_span text, struct msd_md5 *ret);

#endif
