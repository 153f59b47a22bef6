#include "daemon/supervisor/machine.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Happy path: a line of the unified hierarchy, or of the memory controller of the old
 * one, names a group. The limits of the group and of all its parents are read, and
 * the smallest one applies. Failures: a missing file (another hierarchy, a group
 * outside the container) or the value "max" means no limit.
 */

static uint64_t limit_at(const char *path, uint64_t most)
{
	char text[32] = "";
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return most;
	const bool is_read = fgets(text, sizeof(text), f) != NULL;
	(void)fclose(f);
	if (!is_read || text[0] < '0' || text[0] > '9')
		return most;
	const uint64_t limit = strtoull(text, NULL, 10);
	return limit < most ? limit : most;
}

/* The smallest limit of @group and all its parents. Modifies @group. */
static uint64_t limit_of(const char *root, const char *mount, char *group,
			 const char *file, uint64_t most)
{
	char path[PATH_MAX];

	for (;;) {
		char *end = strrchr(group, '/');
		if (snprintf(path, sizeof(path), "%s%s%s/%s", root, mount, group,
			     file) < (int)sizeof(path))
			most = limit_at(path, most);
		if (end == NULL)
			return most;
		*end = '\0';
	}
}

/* A line is "0::/group", or "4:memory,cpu:/group" in the old hierarchies. */
static uint64_t limit_of_line(const char *root, char *line, uint64_t most)
{
	char *controllers = strchr(line, ':');
	char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

	if (group == NULL)
		return most;
	*group++ = '\0';
	group[strcspn(group, "\n")] = '\0';
	if (controllers[1] == '\0')
		return limit_of(root, "/sys/fs/cgroup", group, "memory.max", most);
	if (strstr(controllers, "memory") == NULL)
		return most;
	return limit_of(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
			most);
}

uint64_t msd_machine_memory(const char *root, uint64_t physical)
{
	char path[PATH_MAX], line[PATH_MAX];
	uint64_t most = physical;

	(void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return most;
	while (fgets(line, sizeof(line), f) != NULL)
		most = limit_of_line(root, line, most);
	(void)fclose(f);
	return most;
}
