#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/proc.h"

static char root[] = "/tmp/msd-proc-XXXXXX";

static void remove_machine(void)
{
	char command[64];

	(void)snprintf(command, sizeof(command), "rm -rf %s", root);
	cr_assert_eq(system(command), 0);
}

static void put_file(const char *path, const char *text)
{
	char name[PATH_MAX];

	(void)snprintf(name, sizeof(name), "%s%s", root, path);
	for (char *end = name + sizeof(root); *end != '\0'; end++) {
		if (*end != '/')
			continue;
		*end = '\0';
		(void)mkdir(name, 0700);
		*end = '/';
	}
	FILE *f = fopen(name, "w");
	cr_assert_not_null(f);
	cr_assert_geq(fputs(text, f), 0);
	cr_assert_eq(fclose(f), 0);
}

Test(proc, processors_are_those_of_affinity_and_quota, .fini = remove_machine)
{
	cr_assert_not_null(mkdtemp(root));
	cr_expect_eq(msd_proc_processors(root, 42), 0);
	put_file("/proc/42/status", "Name:\tx\nCpus_allowed:\tf,000000ff\nA:\t1\n");
	cr_expect_eq(msd_proc_processors(root, 42), 12);
	put_file("/proc/42/cgroup", "4:cpu:/a\n0::/one/two\n");
	put_file("/sys/fs/cgroup/one/two/cpu.max", "max 100000\n");
	cr_expect_eq(msd_proc_processors(root, 42), 12);
	put_file("/sys/fs/cgroup/one/cpu.max", "650000 100000\n");
	cr_expect_eq(msd_proc_processors(root, 42), 7);
	put_file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
	put_file("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
	cr_expect_eq(msd_proc_processors(root, 42), 7);
	put_file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "200000\n");
	cr_expect_eq(msd_proc_processors(root, 42), 2);
}
