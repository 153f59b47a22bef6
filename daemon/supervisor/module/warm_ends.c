#include "daemon/supervisor/module/warm_ends.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/child/cgroup.h"
#include "daemon/child/child.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/wire/aside.h"

void msd_warm_ends_keep(struct msd_warm_ends *ends, struct msd_house *house,
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

	msd_warm_name_format(
		&(struct msd_warm_name){
			.pid = msd_child_pid(child),
			.group = group != NULL ? msd_cgroup_number(group) : 0,
			.key = ends->key},
		ends->name);
	ends->is_kept = pidfd >= 0 && house->warm.keep(house, ends->name, fds,
						       sizeof(fds) / sizeof(fds[0]));
	if (!ends->is_kept) {
		msd_log(MSD_LOG_WARN, "kept-worker",
			"pid=%d kept=no why=\"the service manager was not told\"",
			(int)msd_child_pid(child));
	}
	if (!is_found && pidfd >= 0)
		(void)close(pidfd);
}

void msd_warm_ends_cool(struct msd_warm_ends *ends, struct msd_house *house)
{
	if (ends->is_kept)
		house->warm.give_up(house, ends->name);
	ends->is_kept = false;
	/* Its worker may have sent descriptors. */
	msd_aside_close_socket(ends->door, MSD_ASIDE_WORKERS);
	if (ends->lifeline >= 0)
		(void)close(ends->lifeline);
	ends->door = ends->lifeline = -1;
}
