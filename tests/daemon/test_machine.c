#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/machine.h"

#define GIB (1ull << 30)

static char root[64];

/* Write @text to a file below the root, and create its folders. */
static void put(const char *path, const char *text)
{
	char words[256];

	(void)snprintf(words, sizeof(words), "mkdir -p \"$(dirname %s%s)\"", root,
		       path);
	cr_assert_eq(system(words), 0); /* NOLINT(cert-env33-c) */
	(void)snprintf(words, sizeof(words), "%s%s", root, path);
	FILE *f = fopen(words, "we");
	cr_assert_not_null(f);
	cr_assert_geq(fputs(text, f), 0);
	cr_assert_eq(fclose(f), 0);
}

static void begin(const char *groups)
{
	(void)strcpy(root, "/tmp/modserd-machine-XXXXXX");
	cr_assert_not_null(mkdtemp(root));
	put("/proc/self/cgroup", groups);
}

static void expect_memory(uint64_t want)
{
	char words[128];

	cr_expect_eq(msd_machine_memory(root, 8 * GIB), want);
	(void)snprintf(words, sizeof(words), "rm -r %s", root);
	cr_expect_eq(system(words), 0); /* NOLINT(cert-env33-c) */
}

Test(machine, without_control_groups_all_is_there)
{
	(void)strcpy(root, "/nowhere");
	cr_expect_eq(msd_machine_memory(root, 8 * GIB), 8 * GIB);
}

Test(machine, the_groups_own_limit_counts)
{
	begin("0::/system.slice/modserd.service\n");
	put("/sys/fs/cgroup/system.slice/modserd.service/memory.max", "1073741824\n");
	expect_memory(GIB);
}

Test(machine, a_limit_of_a_group_above_counts)
{
	begin("0::/a/b/c\n");
	put("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
	put("/sys/fs/cgroup/a/memory.max", "2147483648\n");
	expect_memory(2 * GIB);
}

Test(machine, a_container_sees_its_group_as_the_root)
{
	begin("0::/\n");
	put("/sys/fs/cgroup/memory.max", "1073741824\n");
	expect_memory(GIB);
}

Test(machine, the_old_hierarchy_counts_too)
{
	begin("7:cpu:/x\n4:memory:/docker/y\n0::/\n");
	put("/sys/fs/cgroup/memory/docker/y/memory.limit_in_bytes", "1073741824\n");
	expect_memory(GIB);
}

Test(machine, more_than_there_is_is_no_limit)
{
	begin("4:memory:/y\n");
	put("/sys/fs/cgroup/memory/y/memory.limit_in_bytes", "9223372036854771712\n");
	expect_memory(8 * GIB);
}
