#include <criterion/criterion.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/proc.h"
#include "proto/base/spin.h"

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

static void be_in_group(void)
{
	char path[64];

	cr_assert_not_null(mkdtemp(root));
	(void)snprintf(path, sizeof(path), "/proc/%lld/cgroup", (long long)getpid());
	put_file(path, "0::/one\n");
}

/* Where this machine has a second one. */
static bool has_two(void)
{
	cpu_set_t may;

	return sched_getaffinity(0, sizeof(may), &may) == 0 && CPU_COUNT(&may) > 1;
}

Test(proc, a_part_of_a_second_processor_is_none, .fini = remove_machine)
{
	static const struct {
		const char *quota;
		uint64_t millis;
		bool looks;
	} rows[] = {{"50000 100000\n", 500, false},
		    {"100000 100000\n", 1000, false},
		    {"199999 100000\n", 1999, false},
		    {"200000 100000\n", 2000, true},
		    {"20000 10000\n", 2000, true}};

	be_in_group();
	if (!has_two())
		cr_skip_test("there is no second processor");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct msd_spin s;

		put_file("/sys/fs/cgroup/one/cpu.max", rows[i].quota);
		cr_expect_eq(msd_proc_own_millis(root), rows[i].millis, "%s",
			     rows[i].quota);
		msd_spin_init(&s, MSD_SPIN_MOST_NS, msd_proc_own_millis(root));
		cr_expect_eq(msd_spin_is_on(&s), rows[i].looks, "%s", rows[i].quota);
	}
}

Test(proc, who_may_use_one_processor_has_one_whatever_the_quota, .fini = remove_machine)
{
	cpu_set_t may, one;
	size_t cpu = 0;

	be_in_group();
	put_file("/sys/fs/cgroup/one/cpu.max", "800000 100000\n");
	cr_assert_eq(sched_getaffinity(0, sizeof(may), &may), 0);
	while (!CPU_ISSET(cpu, &may))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	cr_expect_eq(msd_proc_own_millis(root), 1000);
}
