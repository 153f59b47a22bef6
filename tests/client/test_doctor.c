#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/cli/doctor.h"
#include "client/cli/overhead.h"

/* What is said of two looks, in @ret. */
static const char *said(const struct msd_doctor_look *after,
			const struct msd_doctor_facts *facts, char ret[2048])
{
	const struct msd_doctor_look before = {.ticks = 1000};
	struct msd_buf out = {0};

	msd_doctor_judge(&before, after, facts, &out);
	cr_assert_lt(out.n, 2048);
	if (out.n > 0)
		memcpy(ret, out.p, out.n);
	ret[out.n] = '\0';
	msd_buf_finish(&out);
	return ret;
}

static const struct msd_doctor_facts usual = {.n_cores = 4,
					      .landlock = 3,
					      .has_group = true,
					      .is_same_machine = true,
					      .seconds = 1,
					      .requests = 500,
					      .calls = 400,
					      .threads = 8};
static const struct msd_doctor_look quiet = {.ticks = 1400, .busy = 200};

Test(doctor, nothing_is_said_of_a_usual_machine)
{
	char text[2048];

	cr_expect_str_eq(said(&quiet, &usual, text), "");
}

Test(doctor, each_disturbance_is_named)
{
	const struct msd_doctor_look bad = {.ticks = 1400,
					    .busy = 390,
					    .stolen = 40,
					    .swapped = 7,
					    .throttled = 1,
					    .held = 1};
	static const char *const words[] = {"swaps", "7 pages", "gave 10 %",
					    "busy",  "heat",    "quota"};
	char text[2048];

	(void)said(&bad, &usual, text);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		cr_expect_not_null(strstr(text, words[i]), "%s: %s", words[i], text);
}

Test(doctor, each_fact_of_the_daemon_is_named)
{
	const struct msd_doctor_facts bad = {.n_cores = 4,
					     .threads = 9,
					     .requests = 50000,
					     .seconds = 1,
					     .lag_ms = 51,
					     .is_same_machine = true};
	static const char *const words[] = {"9 threads", "spins", "51 ms late",
					    "Landlock", "control group"};
	char text[2048];

	(void)said(&quiet, &bad, text);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		cr_expect_not_null(strstr(text, words[i]), "%s: %s", words[i], text);
}

Test(doctor, another_machine_is_not_judged)
{
	const struct msd_doctor_look bad = {.ticks = 1400, .swapped = 7};
	struct msd_doctor_facts far = usual;
	char text[2048];

	far.is_same_machine = false;
	cr_expect_str_eq(said(&bad, &far, text), "");
}

Test(doctor, what_is_not_there_is_nothing)
{
	struct msd_doctor_look look = {.ticks = 1};

	msd_doctor_look("/nonexistent", 1, &look);
	cr_expect_eq(look.ticks + look.busy + look.swapped + look.held, 0);
	cr_expect_eq(msd_doctor_threads("/nonexistent", 1), 0);
}

/* A file below a machine's @root, with the folders above it. */
static void put_file(const char *root, const char *path, const char *text)
{
	char name[512];

	(void)snprintf(name, sizeof(name), "%s%s", root, path);
	for (char *at = strchr(name + strlen(root) + 1, '/'); at != NULL;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		(void)mkdir(name, 0700);
		*at = '/';
	}
	FILE *f = fopen(name, "w");
	cr_assert_not_null(f, "%s", name);
	cr_assert_geq(fputs(text, f), 0);
	cr_assert_eq(fclose(f), 0);
}

static char root[] = "/tmp/msd-doctor-XXXXXX";

static void remove_machine(void)
{
	char command[64];

	(void)snprintf(command, sizeof(command), "rm -rf %s", root);
	cr_assert_eq(system(command), 0);
}

Test(doctor, quotas_of_the_daemons_groups_are_counted, .fini = remove_machine)
{
	struct msd_doctor_look look;

	cr_assert_not_null(mkdtemp(root));
	put_file(root, "/proc/42/cgroup", "1:cpu:/a\n0::/teams/one.service\n");
	put_file(root, "/sys/fs/cgroup/cpu.stat", "nr_throttled 1\n");
	put_file(root, "/sys/fs/cgroup/teams/cpu.stat", "usage 9\nnr_throttled 10\n");
	put_file(root, "/sys/fs/cgroup/teams/one.service/cpu.stat",
		 "nr_throttled 100\n");
	put_file(root, "/sys/fs/cgroup/a/cpu.stat", "nr_throttled 1000\n");
	msd_doctor_look(root, 42, &look);
	cr_expect_eq(look.held, 111);
}

Test(doctor, finds_quotas_of_the_first_version, .fini = remove_machine)
{
	struct msd_doctor_look look;

	cr_assert_not_null(mkdtemp(root));
	put_file(root, "/proc/42/cgroup", "9:cpuset:/b\n4:cpuacct,cpu:/a\n0::/\n");
	put_file(root, "/sys/fs/cgroup/cpu/cpu.stat", "nr_throttled 1\n");
	put_file(root, "/sys/fs/cgroup/cpu/a/cpu.stat", "nr_throttled 10\n");
	put_file(root, "/sys/fs/cgroup/cpu/b/cpu.stat", "nr_throttled 100\n");
	msd_doctor_look(root, 42, &look);
	cr_expect_eq(look.held, 11);
}

Test(doctor, counters_that_go_back_are_no_news)
{
	const struct msd_doctor_look before = {
		.ticks = 1000, .stolen = 50, .busy = 500};
	const struct msd_doctor_look after = {.ticks = 1400, .stolen = 49, .busy = 400};
	struct msd_buf out = {0};

	msd_doctor_judge(&before, &after, &usual, &out);
	cr_expect_eq(out.n, 0);
	msd_buf_finish(&out);
}

Test(doctor, what_is_added_to_a_call_is_all_but_the_run)
{
	static struct msd_overhead found[MSD_OVERHEAD_MODULES];
	static const char *const metrics =
		"# HELP modserd_call_stage_seconds a\n"
		"modserd_call_stage_seconds_bucket{module=\"a\",stage=\"run\",le=\"1\"}"
		" 4\n"
		"modserd_call_stage_seconds_sum{module=\"a\",stage=\"queue\"} 0.5\n"
		"modserd_call_stage_seconds_sum{module=\"a\",stage=\"worker\"} 0.25\n"
		"modserd_call_stage_seconds_sum{module=\"a\",stage=\"run\"} 2\n"
		"modserd_call_stage_seconds_count{module=\"a\",stage=\"run\"} 4\n"
		"modserd_call_stage_seconds_sum{module=\"b\",stage=\"run\"} 1";

	cr_assert_eq(msd_overhead_read(metrics, found), 2);
	cr_expect_str_eq(found[0].module, "a");
	cr_expect_eq(found[0].all_s, 0.75);
	cr_expect_eq(found[0].run_s, 2);
	cr_expect_eq(found[0].calls, 4);
	cr_expect_str_eq(found[1].module, "b");
}
