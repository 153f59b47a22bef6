#ifndef MSD_PROTO_DEVICE_LIST_H
#define MSD_PROTO_DEVICE_LIST_H
/* Device list of a module's workers: one device, or several, each worker on the next
 * one: "cuda:0,cuda:1". */
#include "proto/base/bytes.h"
#include "proto/dtype.h"

#define MSD_DEVICE_LIST_MAX 16u
#define MSD_DEVICE_LIST_TEXT_MAX (MSD_DEVICE_LIST_MAX * (MSD_DTYPE_NAME_MAX + 16u))
#define MSD_DEVICE_LIST_EXPECTED                                                       \
	"one such as cpu or opencl:0, or up to 16 of one type, such as "               \
	"cuda:0,cuda:1"

struct msd_device_list {
	struct msd_device at[MSD_DEVICE_LIST_MAX];
	uint32_t n; /* 0: the worker decides */
};

/** Parse a device list. False: not a device, two device types, or too many. */
MSD_MUST_CHECK bool msd_device_list_parse(struct msd_span text,
					  struct msd_device_list *ret);
/** Format the list as it is parsed, into @buf; "" if it is empty. Returns @buf. */
const char *msd_device_list_format(const struct msd_device_list *s,
				   char buf[static MSD_DEVICE_LIST_TEXT_MAX]);
/** Return the device of worker @i; type 0: the worker decides. */
struct msd_device msd_device_list_at(const struct msd_device_list *s, uint32_t i);

#endif
