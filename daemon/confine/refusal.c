/*
 * Happy path: libseccomp makes a filter from the lists, and the kernel enforces it.
 * Failures: a call that this architecture lacks is skipped; after any other error
 * nothing is enforced.
 */
#include "daemon/confine/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define NO SCMP_ACT_ERRNO(EPERM)
#define CALL(name) SCMP_SYS(name)
#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))
#define IOPRIO_WHO_PROCESS 1 /* in no header of the C library */
#define SOCKET_TYPE 0xfu     /* mask without its flags */
/* Newer than libseccomp's table of names. */
#define SYS_FCHMODAT2 452
#define SYS_SETXATTRAT 463
#define SYS_REMOVEXATTRAT 466
#define SYS_FILE_SETATTR 469

static const int refused[] = {
/* Access to other processes. A leak checker traces its own process at the end. */
#ifndef __SANITIZE_ADDRESS__
	CALL(ptrace),
#endif
	CALL(process_vm_readv),
	CALL(process_vm_writev),
	CALL(process_madvise),
	CALL(pidfd_getfd),
	CALL(kcmp),
	CALL(migrate_pages),
	CALL(move_pages),
	/*
	 * Changes of mounts, and access to files that bypasses paths and their rules.
	 */
	CALL(mount),
	CALL(umount2),
	CALL(move_mount),
	CALL(open_tree),
	CALL(fsopen),
	CALL(fsmount),
	CALL(fsconfig),
	CALL(fspick),
	CALL(mount_setattr),
	CALL(pivot_root),
	CALL(chroot),
	CALL(open_by_handle_at),
	CALL(fanotify_init),
	CALL(quotactl),
	CALL(swapon),
	CALL(swapoff),
	CALL(acct),
	/* File metadata, which rules for paths do not cover. Also by descriptor: a
	 * read-only one is enough for the owner. */
	CALL(chmod),
	CALL(fchmod),
	CALL(fchmodat),
	SYS_FCHMODAT2,
	CALL(chown),
	CALL(fchown),
	CALL(lchown),
	CALL(fchownat),
	CALL(setxattr),
	CALL(fsetxattr),
	CALL(lsetxattr),
	SYS_SETXATTRAT,
	CALL(removexattr),
	CALL(fremovexattr),
	CALL(lremovexattr),
	SYS_REMOVEXATTRAT,
	SYS_FILE_SETATTR,
	CALL(utime),
	CALL(utimes),
	CALL(utimensat),
	CALL(futimesat),
	/* IPC objects that belong to the user and outlive all their processes. */
	CALL(shmget),
	CALL(shmat),
	CALL(shmctl),
	CALL(msgget),
	CALL(msgsnd),
	CALL(msgrcv),
	CALL(msgctl),
	CALL(semget),
	CALL(semop),
	CALL(semtimedop),
	CALL(semctl),
	CALL(mq_open),
	/* Resources that are limited per user or machine. */
	CALL(inotify_init),
	CALL(inotify_init1),
	CALL(io_setup),
	/* Kernel internals; calls that no filter can check. */
	CALL(bpf),
	CALL(perf_event_open),
	CALL(userfaultfd),
	CALL(io_uring_setup),
	CALL(io_uring_enter),
	CALL(io_uring_register),
	CALL(init_module),
	CALL(finit_module),
	CALL(delete_module),
	CALL(kexec_load),
	CALL(kexec_file_load),
	CALL(iopl),
	CALL(ioperm),
	CALL(syslog),
	CALL(reboot),
	CALL(add_key),
	CALL(request_key),
	CALL(keyctl),
	/* Leaving namespaces. */
	CALL(unshare),
	CALL(setns),
	/* Machine settings. */
	CALL(settimeofday),
	CALL(clock_settime),
	CALL(clock_adjtime),
	CALL(adjtimex),
	CALL(sethostname),
	CALL(setdomainname),
	CALL(vhangup),
};

struct with_argument {
	int call;
	struct scmp_arg_cmp is;
};

static bool add_all(scmp_filter_ctx f, const int *calls, size_t n)
{
	int failed = 0;

	for (size_t i = 0; i < n && failed == 0; i++)
		failed = seccomp_rule_add(f, NO, calls[i], 0);
	return failed == 0;
}

static bool add_those(scmp_filter_ctx f, const struct with_argument *rows, size_t n)
{
	int failed = 0;

	for (size_t i = 0; i < n && failed == 0; i++)
		failed = seccomp_rule_add_array(f, NO, rows[i].call, 1, &rows[i].is);
	return failed == 0;
}

#define FLAG(argument, bit) SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, bit, bit)
/* clone also makes new namespaces. A filter cannot see the flags of clone3, and C
 * libraries fall back if it does not exist. */
static bool add_namespaces(scmp_filter_ctx f)
{
	const struct with_argument rows[] = {
		{CALL(clone), FLAG(0, CLONE_NEWUSER)},
		{CALL(clone), FLAG(0, CLONE_NEWNS)},
		{CALL(clone), FLAG(0, CLONE_NEWPID)},
		{CALL(clone), FLAG(0, CLONE_NEWNET)},
		{CALL(clone), FLAG(0, CLONE_NEWIPC)},
		{CALL(clone), FLAG(0, CLONE_NEWUTS)},
		{CALL(clone), FLAG(0, CLONE_NEWCGROUP)},
	};

	return add_those(f, rows, LENGTH(rows)) &&
	       seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), CALL(clone3), 0) == 0;
}

/* Further operations of a file's owner with a read-only descriptor: change its flags,
 * delay processes that open it for writing, watch a directory. */
static bool add_by_descriptor(scmp_filter_ctx f)
{
	const struct with_argument rows[] = {
		{CALL(ioctl), SCMP_A1_32(SCMP_CMP_EQ, FS_IOC_SETFLAGS)},
		{CALL(ioctl), SCMP_A1_32(SCMP_CMP_EQ, FS_IOC_FSSETXATTR)},
		{CALL(ioctl), SCMP_A1_32(SCMP_CMP_EQ, FS_IOC_SETVERSION)},
		{CALL(ioctl), SCMP_A1_32(SCMP_CMP_EQ, FS_IOC_ENABLE_VERITY)},
		/* All of btrfs: they make and remove directories. */
		{CALL(ioctl),
		 SCMP_A1_32(SCMP_CMP_MASKED_EQ, _IOC_TYPEMASK << _IOC_TYPESHIFT,
			    BTRFS_IOCTL_MAGIC << _IOC_TYPESHIFT)},
		{CALL(fcntl), SCMP_A1_32(SCMP_CMP_EQ, F_SETLEASE)},
		{CALL(fcntl), SCMP_A1_32(SCMP_CMP_EQ, F_NOTIFY)},
	};

	return add_those(f, rows, LENGTH(rows));
}

/*
 * Limits and scheduling of other processes: a limit on CPU time kills its process.
 * Threads have ids of their own, which a filter does not know. Only the supervisor's
 * serving thread is protected.
 */
static bool add_limits_of_others(scmp_filter_ctx f)
{
	const scmp_datum_t supervisor = (scmp_datum_t)getppid();
	const struct with_argument rows[] = {
		{CALL(prlimit64), SCMP_A0_32(SCMP_CMP_NE, 0)},
		{CALL(setpriority), SCMP_A0_32(SCMP_CMP_NE, PRIO_PROCESS)},
		{CALL(setpriority), SCMP_A1_32(SCMP_CMP_NE, 0)},
		{CALL(ioprio_set), SCMP_A0_32(SCMP_CMP_NE, IOPRIO_WHO_PROCESS)},
		{CALL(ioprio_set), SCMP_A1_32(SCMP_CMP_NE, 0)},
		{CALL(sched_setaffinity), SCMP_A0_32(SCMP_CMP_EQ, supervisor)},
		{CALL(sched_setscheduler), SCMP_A0_32(SCMP_CMP_EQ, supervisor)},
		{CALL(sched_setparam), SCMP_A0_32(SCMP_CMP_EQ, supervisor)},
		{CALL(sched_setattr), SCMP_A0_32(SCMP_CMP_EQ, supervisor)},
	};

	return add_those(f, rows, LENGTH(rows));
}

/* The owner of a descriptor gets a signal of its choice on input. A pidfd is one more
 * way to name a process. */
static bool add_signals(scmp_filter_ctx f)
{
	static const int calls[] = {CALL(tkill), CALL(pidfd_send_signal)};
	const scmp_datum_t own = (scmp_datum_t)getpid();
	const struct with_argument rows[] = {
		{CALL(kill), SCMP_A0_32(SCMP_CMP_NE, own)},
		{CALL(tgkill), SCMP_A0_32(SCMP_CMP_NE, own)},
		{CALL(rt_sigqueueinfo), SCMP_A0_32(SCMP_CMP_NE, own)},
		{CALL(rt_tgsigqueueinfo), SCMP_A0_32(SCMP_CMP_NE, own)},
		{CALL(fcntl), SCMP_A1_32(SCMP_CMP_EQ, F_SETOWN)},
		{CALL(fcntl), SCMP_A1_32(SCMP_CMP_EQ, F_SETOWN_EX)},
		{CALL(fcntl), SCMP_A1_32(SCMP_CMP_EQ, F_SETSIG)},
		{CALL(ioctl), SCMP_A1_32(SCMP_CMP_EQ, FIOSETOWN)},
		{CALL(ioctl), SCMP_A1_32(SCMP_CMP_EQ, SIOCSPGRP)},
	};

	return add_all(f, calls, LENGTH(calls)) && add_those(f, rows, LENGTH(rows));
}

/* Drivers talk to local services and to the kernel. All other families are refused:
 * some reach the network by other protocols (RDS, RXRPC, SMC). */
static bool add_families(scmp_filter_ctx f)
{
	int failed = seccomp_rule_add(f, NO, CALL(socket), 1,
				      SCMP_A0_32(SCMP_CMP_GT, AF_NETLINK));

	for (scmp_datum_t family = 0; family < AF_NETLINK && failed == 0; family++) {
		if (family == AF_UNIX)
			continue;
		failed = seccomp_rule_add(f, NO, CALL(socket), 1,
					  SCMP_A0_32(SCMP_CMP_EQ, family));
	}
	return failed == 0;
}

/* Without sockets there are no socket pairs either: the kernel counts descriptors in
 * flight per user, and above the limit no process of the user can send any. */
static bool add_sockets(scmp_filter_ctx f)
{
	static const int calls[] = {CALL(socket), CALL(socketpair), CALL(connect),
				    CALL(bind),   CALL(listen),     CALL(accept),
				    CALL(accept4)};

	return add_all(f, calls, LENGTH(calls));
}

/*
 * The kernel also counts epoll watches per user: above the limit no process of the
 * user can add any, including the supervisor for its clients. The worker may still
 * wait on its own channel.
 */
static bool add_waiting(scmp_filter_ctx f, const struct msd_refusal *r)
{
	static const int calls[] = {CALL(epoll_create), CALL(epoll_create1)};
	const struct scmp_arg_cmp adds = SCMP_A1_32(SCMP_CMP_EQ, EPOLL_CTL_ADD);

	return add_all(f, calls, LENGTH(calls)) &&
	       seccomp_rule_add(f, NO, CALL(epoll_ctl), 2, adds,
				SCMP_A0_32(SCMP_CMP_NE, (scmp_datum_t)r->loop_fd)) ==
		       0 &&
	       seccomp_rule_add(f, NO, CALL(epoll_ctl), 2, adds,
				SCMP_A2_32(SCMP_CMP_LT, (scmp_datum_t)r->channel_fd)) ==
		       0 &&
	       seccomp_rule_add(f, NO, CALL(epoll_ctl), 2, adds,
				SCMP_A2_32(SCMP_CMP_GT, (scmp_datum_t)r->last_fd)) == 0;
}

static bool add_talking(scmp_filter_ctx f, const struct msd_refusal *r)
{
	return r->sockets == MSD_REFUSED_ALL_SOCKETS
		       ? add_sockets(f) && add_waiting(f, r)
		       : add_families(f);
}

bool msd_refusal_enter(const struct msd_refusal *r)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);

	if (f == NULL)
		return false;
	/* Calls with numbers of another architecture would bypass the lists. CTL_SSB:
	 * avoid the mitigation that older kernels add, which slows down computation. */
	const bool is_in =
		seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)) ==
			0 &&
		seccomp_attr_set(f, SCMP_FLTATR_CTL_SSB, 1) == 0 &&
		add_all(f, refused, LENGTH(refused)) && add_namespaces(f) &&
		add_by_descriptor(f) && add_limits_of_others(f) && add_talking(f, r) &&
		(!r->others_signals || add_signals(f)) && seccomp_load(f) == 0;

	seccomp_release(f);
	return is_in;
}
