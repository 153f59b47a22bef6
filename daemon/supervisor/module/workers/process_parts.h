#ifndef MSD_SUPERVISOR_PROCESS_PARTS_H
#define MSD_SUPERVISOR_PROCESS_PARTS_H
/* Private to process.c, process_start.c and handover.c: create a process. */
#include "daemon/supervisor/module/workers/process.h"

struct msd_cgroup_limits;
struct msd_limits;

extern const struct msd_child_ops msd_process_child_ops;
extern const struct msd_conn_ops msd_process_channel_ops;

/** Create one without child and channel, with one reference; NULL: out of memory. */
struct msd_process *msd_process_new(struct msd_module_registry *registry,
				    const struct msd_process_ops *ops,
				    struct msd_replica *owner);
/** Create a channel: the supervisor's end [0] and the worker's [1]. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_process_ends(int ret[2], struct msd_diag *d);
/** Use @fd as its channel. Takes @fd in every case. */
MSD_MUST_CHECK msd_err msd_process_open_channel(struct msd_process *p, int fd,
						struct msd_diag *d);
/** Set the limits of a worker's control group. */
void msd_process_group_limits(const struct msd_limits *l,
			      struct msd_cgroup_limits *ret);

#endif
