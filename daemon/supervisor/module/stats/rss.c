#include "daemon/supervisor/module/stats/rss.h"

#include <stdio.h>
#include <unistd.h>

#define RECENT_MS 1000u

uint64_t msd_rss_look(int pid)
{
	char path[64];
	unsigned long long total = 0, resident = 0;

	if (pid == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%llu %llu", &total, &resident) != 2) /* NOLINT(cert-err34-c) */
		resident = 0;
	(void)fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t msd_rss_recent(struct msd_rss *rss, int pid, uint64_t now_ms, uint32_t *looks)
{
	if (*looks > 0 && (rss->at_ms == 0 || now_ms - rss->at_ms >= RECENT_MS)) {
		--*looks;
		rss->bytes = msd_rss_look(pid);
		rss->at_ms = now_ms;
	}
	return rss->bytes;
}
