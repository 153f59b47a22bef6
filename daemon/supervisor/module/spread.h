#ifndef MSD_SUPERVISOR_SPREAD_H
#define MSD_SUPERVISOR_SPREAD_H
/*
 * Where a module's workers run: on one device, or spread over several, each worker on
 * the next: "cuda:0,cuda:1".
 */
#include "proto/bytes.h"
#include "proto/dtype.h"

#define MSD_SPREAD_MAX 16u
#define MSD_SPREAD_TEXT_MAX (MSD_SPREAD_MAX * (MSD_DTYPE_NAME_MAX + 16u))
#define MSD_SPREAD_EXPECTED                                                            \
	"expected one such as cpu or opencl:0, or up to 16 of one type, such as "      \
	"cuda:0,cuda:1"

struct msd_spread {
	struct msd_device at[MSD_SPREAD_MAX];
	uint32_t n; /* 0: the worker decides */
};

/** False: it is no device, or they are of two types, or too many. */
MSD_MUST_CHECK bool msd_spread_parse(struct msd_span text, struct msd_spread *ret);
/** As it is parsed, into @buf; "" when none was named. Returns @buf. */
const char *msd_spread_format(const struct msd_spread *s,
			      char buf[static MSD_SPREAD_TEXT_MAX]);
/** That of worker @i; type 0: it decides. */
struct msd_device msd_spread_at(const struct msd_spread *s, uint32_t i);

#endif
