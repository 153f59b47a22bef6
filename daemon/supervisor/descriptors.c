#include "daemon/supervisor/descriptors.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/loop/closer.h"
#include "daemon/segments/segpool.h"
#include "daemon/stream/transport.h"
#include "proto/base/errno_text.h"

#define OWN 64u         /* loop, listeners, log, connections being accepted or closed */
#define OF_A_MODULE 16u /* its file, its workers' channels and output, segments */

/* The supervisor also holds its ends of the direct channels between clients and the
 * module. */
static uint64_t of_a_module(const struct msd_limits *limits)
{
	return OF_A_MODULE + limits->max_directs;
}

#define LAST 320u /* reserved; no client uses them */

/* A connection holds its socket, its uploads and the descriptors of an incomplete
 * frame. */
static uint64_t of_a_connection(const struct msd_limits *limits)
{
	return 1 + limits->max_uploads + MSD_TRANSPORT_FDS;
}

static uint64_t wanted(const struct msd_limits *limits)
{
	return OWN + LAST + of_a_connection(limits) * limits->max_connections +
	       of_a_module(limits) * limits->max_modules + MSD_MAX_LENT +
	       MSD_CLOSER_OF_ALL / 4; /* more wait only if many closes block */
}

uint64_t msd_descriptors_last(uint64_t have)
{
	return have / 4 < LAST ? have / 4 : LAST;
}

const char *msd_descriptors_judge(const struct msd_limits *limits, uint64_t have,
				  char ret[MSD_DESCRIPTORS_TEXT_BYTES])
{
	const uint64_t want = wanted(limits);
	const uint64_t least = OWN + OF_A_MODULE + msd_descriptors_last(have);
	const uint64_t of_clients = have > least ? have - least : 0;

	if (have >= want)
		return NULL;
	if (have < MSD_LEAST_WORKER_FILES) {
		(void)snprintf(ret, MSD_DESCRIPTORS_TEXT_BYTES,
			       "RLIMIT_NOFILE is %" PRIu64
			       ", but a worker needs %u, so no module can be loaded: "
			       "raise it (%s)",
			       have, MSD_LEAST_WORKER_FILES, MSD_RAISE_DESCRIPTORS);
		return ret;
	}
	(void)snprintf(ret, MSD_DESCRIPTORS_TEXT_BYTES,
		       "RLIMIT_NOFILE is %" PRIu64 ", and --max-connections %" PRIu64
		       " with --max-modules %" PRIu64 " need %" PRIu64
		       ": it is enough for %" PRIu64
		       " connections beside one module; raise it (%s), or lower these",
		       have, limits->max_connections, limits->max_modules, want,
		       of_clients, MSD_RAISE_DESCRIPTORS);
	return ret;
}

int msd_descriptors_raise(const struct msd_limits *limits)
{
	const rlim_t want = wanted(limits);
	char text[MSD_DESCRIPTORS_TEXT_BYTES];
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return 0;
	if (r.rlim_cur < want && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max < want ? r.rlim_max : want;
		(void)setrlimit(RLIMIT_NOFILE, &r);
		(void)getrlimit(RLIMIT_NOFILE, &r);
	}
	if (msd_descriptors_judge(limits, r.rlim_cur, text) != NULL)
		msd_log(MSD_LOG_INFO, "process_descriptors", "why=\"%s\"", text);
	const int last = r.rlim_cur < INT_MAX
				 ? (int)(r.rlim_cur - msd_descriptors_last(r.rlim_cur))
				 : 0;

	msd_closer_allow((unsigned)last);
	return last;
}
