/*
 * Happy path: the option is switched off at both ends before either end is given
 * away. Failures: a kernel without the option passes descriptors, and the receiver
 * handles them; if a kernel has it and refuses, no pair is made.
 */
#include "daemon/stream/socket_pair.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/disabled_features.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* older headers lack it */
#endif

/* ENOPROTOOPT: the kernel does not know it. */
static int refuse_descriptors(int fd)
{
	const int off = 0;

	if (msd_feature_is_disabled("tight"))
		return ENOPROTOOPT;
	return setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off)) == 0
		       ? 0
		       : errno;
}

static void close_both(const int ends[2])
{
	(void)close(ends[0]);
	(void)close(ends[1]);
}

msd_err msd_socket_pair_open(int ret[2], struct msd_diag *d)
{
	int error = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret) != 0) {
		return msd_diag_set(d, MSD_IO, "no pair of sockets: %s",
				    strerror(errno));
	}
	for (int i = 0; i < 2 && error == 0; i++)
		error = refuse_descriptors(ret[i]);
	if (error == 0 || error == ENOPROTOOPT)
		return MSD_OK;
	close_both(ret);
	return msd_diag_set(d, MSD_IO, "no pair of sockets without descriptors: %s",
			    strerror(error));
}

/* Depends on the kernel only; it works even when no descriptor is free to check
 * again. */
bool msd_socket_pair_is_tight(void)
{
	static enum { UNKNOWN, NO, YES } known;
	int ends[2];

	if (known == UNKNOWN &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
		known = refuse_descriptors(ends[0]) == 0 ? YES : NO;
		close_both(ends);
	}
	return known == YES;
}
