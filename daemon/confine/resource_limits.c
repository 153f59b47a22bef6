#include "daemon/confine/resource_limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Bytes of data that the process already has: almost nothing, or a sanitizer's
 * terabytes. */
static uint64_t data_bytes(void)
{
	unsigned long long size, resident, shared, text, library, data = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f == NULL)
		return 0;
	/* The kernel writes it. NOLINTNEXTLINE(cert-err34-c) */
	if (fscanf(f, "%llu %llu %llu %llu %llu %llu", &size, &resident, &shared, &text,
		   &library, &data) != 6)
		data = 0;
	(void)fclose(f);
	return data * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t own_data; /* limit without client segments; 0: no limit */

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* Set the limit @most now, with @more room to raise it. */
static msd_err set_limits(enum __rlimit_resource what, uint64_t most, uint64_t more,
			  const char *option, struct msd_diag *d)
{
	const uint64_t highest = sum(most, more);
	struct rlimit r;
	int failed = getrlimit(what, &r);

	if (failed == 0) {
		r.rlim_max = highest < r.rlim_max ? highest : r.rlim_max;
		r.rlim_cur = most < r.rlim_max ? most : r.rlim_max;
		failed = setrlimit(what, &r);
	}
	if (failed != 0) {
		return msd_diag_set(d, MSD_IO, "%s of %llu: %s", option,
				    (unsigned long long)most, strerror(errno));
	}
	return MSD_OK;
}

static msd_err set_limit(enum __rlimit_resource what, uint64_t most, const char *option,
			 struct msd_diag *d)
{
	return set_limits(what, most, 0, option, d);
}

msd_err msd_resource_limits_apply(const struct msd_resource_limits *a,
				  struct msd_diag *d)
{
	msd_err err = set_limit(RLIMIT_CORE, a->max_core, "max-worker-core", d);

	if (err == MSD_OK && a->max_files != 0)
		err = set_limit(RLIMIT_NOFILE, a->max_files, "max-worker-files", d);
	if (err != MSD_OK || a->max_data == 0)
		return err;
	/*
	 * A module that allocates without end gets NULL from malloc, so other
	 * processes keep their memory. Segments are shared memory, not data: max_out
	 * limits them. Addresses that drivers only reserve do not count either.
	 */
	own_data = sum(a->max_data, data_bytes());
	return set_limits(RLIMIT_DATA, own_data, a->max_lent, "max-worker-memory", d);
}

static uint64_t lent; /* bytes of client segments */

/* A limit that the module has lowered itself may be raised again here. */
static void set_now(void)
{
	const uint64_t wanted = sum(own_data, lent);
	struct rlimit r;

	if (getrlimit(RLIMIT_DATA, &r) != 0)
		return;
	r.rlim_cur = wanted < r.rlim_max ? wanted : r.rlim_max;
	(void)setrlimit(RLIMIT_DATA, &r);
}

void msd_resource_limits_set_lent(uint64_t bytes)
{
	lent = bytes;
	if (own_data != 0)
		set_now();
}

bool msd_resource_limits_reserve(uint64_t bytes)
{
	if (own_data == 0)
		return true;
	if (bytes >= own_data || data_bytes() > own_data - bytes)
		return false;
	own_data -= bytes;
	set_now();
	return true;
}
