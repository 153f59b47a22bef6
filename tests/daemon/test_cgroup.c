#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/child/cgroup.h"

/*
 * A folder stands for the kernel's: it has the files that the kernel would put there,
 * as files of an ordinary file system. What the kernel makes of them is for
 * tests/e2e/hostile/test_control_groups.py, where there is one.
 */
#define OURS "/sys/fs/cgroup/ours/"

static const struct msd_cgroup_limits limits = {.max_processes = 320,
						.max_memory = 1 << 30};

static char root[64];
static struct msd_cgroups groups;
static struct msd_diag diag;

static void run(const char *words)
{
	char line[768];

	(void)snprintf(line, sizeof(line), "cd %s && %s", root, words);
	cr_assert_eq(system(line), 0); /* NOLINT(cert-env33-c) */
}

static void put(const char *path, const char *text)
{
	char words[512];

	(void)snprintf(words, sizeof(words),
		       "mkdir -p \"$(dirname ./%s)\" && printf %%s '%s' >./%s", path,
		       text, path);
	run(words);
}

static const char *got(const char *path)
{
	static char text[64];
	char whole[128];

	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	FILE *f = fopen(whole, "re");
	cr_assert_not_null(f, "%s", whole);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	cr_assert_eq(fclose(f), 0);
	return text;
}

/* A group that is delegated to this process, in the hierarchy mounted at @mount, with
 * the leaves that it will make: a folder grows no files. */
static void delegate(const char *mount)
{
	char own[16], path[128];
	static const char *const files[] = {"cgroup.type",
					    "cgroup.subtree_control",
					    "supervisor/cgroup.procs",
					    "worker-1/cgroup.procs",
					    "worker-1/cgroup.kill",
					    "worker-1/pids.max",
					    "worker-1/memory.max",
					    "worker-1/memory.swap.max",
					    "worker-1/memory.oom.group"};

	(void)strcpy(root, "/tmp/modserd-cgroup-XXXXXX");
	cr_assert_not_null(mkdtemp(root));
	put("/proc/self/cgroup", "4:memory:/old\n0::/ours\n");
	(void)snprintf(path, sizeof(path), "%s/cgroup.controllers", mount);
	put(path, "pids memory");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/ours/%s", mount, files[i]);
		put(path, "");
	}
	(void)snprintf(own, sizeof(own), "%d\n", (int)getpid());
	(void)snprintf(path, sizeof(path), "%s/ours/cgroup.procs", mount);
	put(path, own);
}

static void clean(void)
{
	char line[128];

	msd_cgroups_close(&groups);
	msd_diag_finish(&diag);
	(void)snprintf(line, sizeof(line), "rm -r %s", root);
	cr_assert_eq(system(line), 0); /* NOLINT(cert-env33-c) */
}

static void expect_none(const char *why)
{
	cr_expect_eq(msd_cgroups_open(&groups, root, true, &diag), MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&diag), why), "%s",
			   msd_diag_text(&diag));
	cr_expect_not(groups.is_open);
	clean();
}

Test(cgroup, the_daemon_goes_into_a_leaf_of_what_is_delegated)
{
	delegate("/sys/fs/cgroup");
	cr_assert_eq(msd_cgroups_open(&groups, root, true, &diag), MSD_OK, "%s",
		     msd_diag_text(&diag));
	cr_expect_str_eq(got(OURS "supervisor/cgroup.procs"), "0");
	cr_expect(groups.has_pids && groups.has_memory);
	cr_expect_str_eq(groups.path + strlen(root), "/sys/fs/cgroup/ours");
	clean();
}

Test(cgroup, the_unified_hierarchy_may_lie_beside_the_old_ones)
{
	delegate("/sys/fs/cgroup/unified");
	cr_assert_eq(msd_cgroups_open(&groups, root, true, &diag), MSD_OK, "%s",
		     msd_diag_text(&diag));
	cr_expect_str_eq(groups.path + strlen(root), "/sys/fs/cgroup/unified/ours");
	clean();
}

Test(cgroup, a_leaf_has_its_limits_before_somebody_is_in_it)
{
	struct msd_cgroup *leaf;

	delegate("/sys/fs/cgroup");
	cr_assert_eq(msd_cgroups_open(&groups, root, true, &diag), MSD_OK);
	cr_assert_eq(msd_cgroup_create(&groups, &limits, &leaf, &diag), MSD_OK, "%s",
		     msd_diag_text(&diag));
	cr_expect_str_eq(got(OURS "worker-1/pids.max"), "320");
	cr_expect_str_eq(got(OURS "worker-1/memory.max"), "1073741824");
	cr_expect_str_eq(got(OURS "worker-1/memory.swap.max"), "1073741824");
	cr_expect_str_eq(got(OURS "worker-1/memory.oom.group"), "1");
	msd_cgroup_end(leaf);
	clean();
}

Test(cgroup, a_limit_whose_controller_is_not_there_is_left_out)
{
	struct msd_cgroup *leaf;

	delegate("/sys/fs/cgroup");
	run("rm ." OURS "cgroup.subtree_control");
	cr_assert_eq(msd_cgroups_open(&groups, root, true, &diag), MSD_OK);
	cr_expect_not(groups.has_pids || groups.has_memory);
	cr_assert_eq(msd_cgroup_create(&groups, &limits, &leaf, &diag), MSD_OK);
	cr_expect_str_eq(got(OURS "worker-1/pids.max"), "");
	cr_expect_str_eq(got(OURS "worker-1/memory.max"), "");
	msd_cgroup_end(leaf);
	clean();
}

Test(cgroup, a_limit_that_cannot_be_set_is_an_error_that_names_the_group)
{
	struct msd_cgroup *leaf = NULL;

	delegate("/sys/fs/cgroup");
	run("rm ." OURS "worker-1/pids.max");
	cr_assert_eq(msd_cgroups_open(&groups, root, true, &diag), MSD_OK);
	cr_expect_eq(msd_cgroup_create(&groups, &limits, &leaf, &diag), MSD_IO);
	cr_expect_not_null(strstr(msd_diag_text(&diag), "/ours/worker-1: "));
	cr_expect_null(leaf);
	clean();
}

Test(cgroup, who_inherits_the_descriptor_joins_by_it)
{
	struct msd_cgroup *leaf;

	delegate("/sys/fs/cgroup");
	cr_assert_eq(msd_cgroups_open(&groups, root, true, &diag), MSD_OK);
	cr_assert_eq(msd_cgroup_create(&groups, &limits, &leaf, &diag), MSD_OK);
	cr_expect_eq(write(msd_cgroup_join_fd(leaf), "0", 1), 1);
	cr_expect_str_eq(got(OURS "worker-1/cgroup.procs"), "0");
	msd_cgroup_end(leaf);
	clean();
}

Test(cgroup, what_is_killed_is_killed_as_a_whole)
{
	struct msd_cgroup *leaf;

	delegate("/sys/fs/cgroup");
	cr_assert_eq(msd_cgroups_open(&groups, root, true, &diag), MSD_OK);
	cr_assert_eq(msd_cgroup_create(&groups, &limits, &leaf, &diag), MSD_OK);
	run("truncate -s 0 ." OURS "worker-1/cgroup.kill");
	msd_cgroup_kill(leaf);
	cr_expect_str_eq(got(OURS "worker-1/cgroup.kill"), "1");
	msd_cgroup_end(leaf);
	clean();
}

Test(cgroup, a_leaf_that_is_not_empty_yet_is_removed_with_the_next_one)
{
	struct msd_cgroup *first, *second;

	delegate("/sys/fs/cgroup");
	cr_assert_eq(msd_cgroups_open(&groups, root, true, &diag), MSD_OK);
	cr_assert_eq(msd_cgroup_create(&groups, &limits, &first, &diag), MSD_OK);
	run("cp -r ." OURS "worker-1 ." OURS "worker-2");
	msd_cgroup_end(first); /* its files keep the folder from going */
	cr_assert_eq(msd_cgroup_create(&groups, &limits, &second, &diag), MSD_OK);
	run("test -d ." OURS "worker-1 && rm ." OURS "worker-1/*");
	msd_cgroup_end(second);
	run("test ! -e ." OURS "worker-1 && test -d ." OURS "worker-2");
	clean();
}

Test(cgroup, at_the_end_living_leaves_go_too)
{
	struct msd_cgroup *leaf;

	delegate("/sys/fs/cgroup");
	cr_assert_eq(msd_cgroups_open(&groups, root, true, &diag), MSD_OK);
	cr_assert_eq(msd_cgroup_create(&groups, &limits, &leaf, &diag), MSD_OK);
	run("rm ." OURS "worker-1/*");
	msd_cgroups_close(&groups);
	run("test ! -e ." OURS "worker-1");
	clean();
}

Test(cgroup, without_a_unified_hierarchy_there_is_none)
{
	delegate("/sys/fs/cgroup");
	run("rm ./sys/fs/cgroup/cgroup.controllers");
	expect_none("no unified hierarchy is mounted");
}

Test(cgroup, in_no_group_of_it_there_is_none)
{
	delegate("/sys/fs/cgroup");
	run("echo 4:memory:/old >./proc/self/cgroup");
	expect_none("in no group of the unified hierarchy");
}

Test(cgroup, the_root_of_all_is_not_divided)
{
	delegate("/sys/fs/cgroup");
	run("rm ." OURS "cgroup.type");
	expect_none("in the root of all groups");
}

Test(cgroup, a_group_with_others_in_it_is_not_divided)
{
	delegate("/sys/fs/cgroup");
	run("echo 1 >>." OURS "cgroup.procs");
	expect_none("others are in its group");
}

Test(cgroup, another_daemons_leaves_are_left_to_it)
{
	delegate("/sys/fs/cgroup");
	run("echo 1 >." OURS "supervisor/cgroup.procs");
	expect_none("another daemon has its group");
}

Test(cgroup, a_group_that_may_not_be_written_to_is_not_divided)
{
	delegate("/sys/fs/cgroup");
	run("rm ." OURS "cgroup.procs");
	expect_none("its group is not delegated");
}

Test(cgroup, closing_what_was_never_open_is_legal)
{
	msd_cgroups_close(&groups);
	cr_expect_not(groups.is_open);
}
