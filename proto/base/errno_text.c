#include "proto/base/errno_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

const char *msd_errno_text(int error, char ret[MSD_ERRNO_TEXT_BYTES])
{
	struct rlimit r;

	if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &r) == 0) {
		(void)snprintf(ret, MSD_ERRNO_TEXT_BYTES,
			       "%s: RLIMIT_NOFILE is %llu; raise it (%s)",
			       strerror(error), (unsigned long long)r.rlim_cur,
			       MSD_RAISE_DESCRIPTORS);
	} else {
		(void)snprintf(ret, MSD_ERRNO_TEXT_BYTES, "%s", strerror(error));
	}
	return ret;
}
