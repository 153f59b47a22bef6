#include "proto/base/proc.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MILLIS 1000u                    /* thousandths of a processor */
#define MOST_MILLIS (UINT64_C(1) << 32) /* more than any machine has */

const char *msd_proc_text(const char *root, const char *path, char *ret, size_t n)
{
	char name[8192];
	FILE *f;

	ret[0] = '\0';
	(void)snprintf(name, sizeof(name), "%s%s", root, path);
	f = fopen(name, "re");
	if (f == NULL)
		return ret;
	ret[fread(ret, 1, n - 1, f)] = '\0';
	(void)fclose(f);
	return ret;
}

uint64_t msd_proc_number(const char *text, const char *key)
{
	const size_t n = strlen(key);

	for (const char *line = text; line != NULL && *line != '\0';) {
		if (strncmp(line, key, n) == 0 && line[n] == ' ')
			return strtoull(line + n, NULL, 10);
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	return 0;
}

/* The cgroup directory of @line, `0::GROUP`, or `N:CONTROLLERS:GROUP` of version 1;
 * NULL if it has no processor quotas. */
static const char *folder_of(const char *line)
{
	const char *list = strchr(line, ':');
	const char *end = list != NULL ? strchr(list + 1, ':') : NULL;

	if (strncmp(line, "0::", 3) == 0)
		return "";
	if (end == NULL)
		return NULL;
	for (const char *at = list + 1; at < end; at += strcspn(at, ",:") + 1) {
		if (strcspn(at, ",:") == 3 && strncmp(at, "cpu", 3) == 0)
			return "/cpu";
	}
	return NULL;
}

void msd_proc_groups(const char *root, int64_t pid,
		     void (*each)(void *ctx, const char *root, const char *folder),
		     void *ctx)
{
	char text[4096], path[4200];
	char *rest = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%lld/cgroup", (long long)pid);
	(void)msd_proc_text(root, path, text, sizeof(text));
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *folder = folder_of(line);
		char *group = strchr(line, '/');
		if (folder == NULL || group == NULL)
			continue;
		for (char *end = group + strlen(group); end != NULL;
		     end = strrchr(group, '/')) {
			*end = '\0';
			(void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s%s", folder,
				       group);
			each(ctx, root, path);
		}
	}
}

/* Lower the result to the quota of the group, in thousandths. */
static void take_quota(void *ctx, const char *root, const char *folder)
{
	char text[64], path[4300];
	uint64_t *least = ctx;
	char *rest = NULL;

	(void)snprintf(path, sizeof(path), "%s/cpu.max", folder); /* `QUOTA PERIOD` */
	uint64_t quota =
		strtoull(msd_proc_text(root, path, text, sizeof(text)), &rest, 10);
	uint64_t period = quota > 0 ? strtoull(rest, NULL, 10) : 0;
	if (quota == 0) {
		(void)snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
		(void)msd_proc_text(root, path, text, sizeof(text));
		quota = text[0] == '-' ? 0 : strtoull(text, NULL, 10);
		(void)snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
		period = strtoull(msd_proc_text(root, path, text, sizeof(text)), NULL,
				  10);
	}
	if (quota > 0 && period > 0 && quota < UINT64_MAX / MILLIS &&
	    quota * MILLIS / period < *least)
		*least = quota * MILLIS / period;
}

static uint64_t quota_millis(const char *root, int64_t pid)
{
	uint64_t least = MOST_MILLIS;

	msd_proc_groups(root, pid, take_quota, &least);
	return least;
}

uint32_t msd_proc_processors(const char *root, int64_t pid)
{
	static const char key[] = "\nCpus_allowed:";
	char text[4096], path[64];
	uint32_t n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%lld/status", (long long)pid);
	const char *at = strstr(msd_proc_text(root, path, text, sizeof(text)), key);
	if (at == NULL)
		return 0;
	for (at += strlen(key); *at != '\0' && *at != '\n'; at++) {
		const char digit[2] = {*at, '\0'};
		n += (uint32_t)__builtin_popcount((unsigned)strtoul(digit, NULL, 16));
	}
	const uint64_t quota = (quota_millis(root, pid) + MILLIS - 1) / MILLIS;
	return quota < n ? (uint32_t)quota : n;
}

uint64_t msd_proc_own_millis(const char *root)
{
	cpu_set_t may;

	if (sched_getaffinity(0, sizeof(may), &may) != 0)
		return 0;
	const uint64_t millis = (uint64_t)CPU_COUNT(&may) * MILLIS;
	if (millis <= MILLIS)
		return millis;
	const uint64_t quota = quota_millis(root, getpid());
	return quota < millis ? quota : millis;
}
