#ifndef MSD_SUPERVISOR_PROCESS_PARTS_H
#define MSD_SUPERVISOR_PROCESS_PARTS_H
/* Private to process.c, process_start.c and warm.c: a process that is being made. */
#include "daemon/supervisor/module/process.h"

struct msd_cgroup_limits;
struct msd_limits;

extern const struct msd_child_ops msd_process_child_ops;
extern const struct msd_conn_ops msd_process_channel_ops;

/** One without a child and a channel, and one reference; NULL: no memory. */
struct msd_process *msd_process_new(struct msd_house *house,
				    const struct msd_process_ops *ops,
				    struct msd_replica *owner);
/** Our end [0] and the worker's [1] of a channel. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_process_ends(int ret[2], struct msd_diag *d);
/** Speak to it over @fd, which is taken in every case. */
MSD_MUST_CHECK msd_err msd_process_open_channel(struct msd_process *p, int fd,
						struct msd_diag *d);
/** What a worker's control group may have. */
void msd_process_group_limits(const struct msd_limits *l,
			      struct msd_cgroup_limits *ret);

#endif
