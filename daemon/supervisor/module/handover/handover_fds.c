#include "daemon/supervisor/module/handover/handover_fds.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/child/cgroup.h"
#include "daemon/child/child.h"
#include "daemon/log.h"
#include "daemon/loop/closer.h"
#include "daemon/supervisor/module/life/registry.h"

void msd_handover_ends_keep(struct msd_handover_ends *ends,
			    struct msd_module_registry *registry,
			    const struct msd_child *child)
{
	const struct msd_cgroup *group = child->group;

	if (ends->lifeline < 0 || ends->is_kept)
		return;
	const bool is_found = child->pidfd >= 0;
	const int pidfd =
		is_found ? child->pidfd
			 : (int)syscall(SYS_pidfd_open, msd_child_pid(child), 0);
	const int fds[] = {ends->door, pidfd, child->output_fd, ends->lifeline};

	msd_handover_name_format(
		&(struct msd_handover_name){
			.pid = msd_child_pid(child),
			.group = group != NULL ? msd_cgroup_number(group) : 0,
			.key = ends->key},
		ends->name);
	ends->is_kept = pidfd >= 0 && registry->warm.keep(registry, ends->name, fds,
							  sizeof(fds) / sizeof(fds[0]));
	if (!ends->is_kept) {
		msd_log(MSD_LOG_WARN, "worker_adopt",
			"pid=%d kept=no why=\"the service manager could not be "
			"notified\"",
			(int)msd_child_pid(child));
	}
	if (!is_found && pidfd >= 0)
		(void)close(pidfd);
}

void msd_handover_ends_cool(struct msd_handover_ends *ends,
			    struct msd_module_registry *registry)
{
	if (ends->is_kept)
		registry->warm.give_up(registry, ends->name);
	ends->is_kept = false;
	/* Its worker may have sent descriptors. */
	msd_closer_close_socket(ends->door, MSD_CLOSER_WORKERS);
	if (ends->lifeline >= 0)
		(void)close(ends->lifeline);
	ends->door = ends->lifeline = -1;
}
