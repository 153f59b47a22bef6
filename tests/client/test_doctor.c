#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/cli/doctor/doctor.h"
#include "client/cli/measure/latency_baseline.h"
#include "client/cli/measure/overhead.h"
#include "client/cli/measure/process_scan.h"

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
					      .n_processors = 4,
					      .own_ticks = 130,
					      .threads = 6};
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
	static const char *const words[] = {"swaps",    "7 pages", "10 % of",
					    "use 65 %", "heat",    "quota"};
	char text[2048];

	(void)said(&bad, &usual, text);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		cr_expect_not_null(strstr(text, words[i]), "%s: %s", words[i], text);
}

Test(doctor, each_fact_of_the_daemon_is_named)
{
	const struct msd_doctor_facts bad = {.n_cores = 4,
					     .threads = 7,
					     .requests = 50000,
					     .seconds = 1,
					     .lag_ms = 51,
					     .is_same_machine = true};
	static const char *const words[] = {"7 threads", "polls", "51 ms late",
					    "Landlock", "control group"};
	char text[2048];

	(void)said(&quiet, &bad, text);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		cr_expect_not_null(strstr(text, words[i]), "%s: %s", words[i], text);
}

Test(doctor, a_neighbour_is_named_with_what_he_takes)
{
	const struct msd_doctor_look busy = {.ticks = 1400, .busy = 230};
	struct msd_doctor_facts beside = usual;
	char text[2048];

	beside.busiest = (struct msd_neighbour){.pid = 77, .ticks = 90, .name = "cc1"};
	(void)said(&busy, &beside, text);
	cr_expect_not_null(strstr(text, "25 %"), "100 of 400 ticks: %s", text);
	cr_expect_not_null(strstr(text, "process 77 (cc1) with 90 % of one"), "%s",
			   text);
	beside.own_ticks = 230;
	cr_expect_str_eq(said(&busy, &beside, text), "", "it is the daemon itself");
}

Test(doctor, what_waits_for_a_processor_is_told)
{
	const struct msd_doctor_look waits = {.ticks = 1400, .waited_us = 300000};
	char text[2048];

	(void)said(&waits, &usual, text);
	cr_expect_not_null(strstr(text, "In 30 % of the time"), "%s", text);
}

Test(doctor, clients_that_move_tensors_for_their_calls_do_not_spin)
{
	struct msd_doctor_facts busy = usual;
	char text[2048];

	busy.requests = 20000;
	busy.calls = 5000;
	cr_expect_str_eq(said(&quiet, &busy, text), "");
	busy.calls = 100;
	cr_expect_not_null(strstr(said(&quiet, &busy, text), "polls"), "%s", text);
}

Test(doctor, another_machine_is_not_judged)
{
	const struct msd_doctor_look bad = {.ticks = 1400, .busy = 400, .swapped = 7};
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
	cr_expect_eq(found[0].added_s, 0.25);
	cr_expect_eq(found[0].wait_s, 0.5);
	cr_expect_eq(found[0].run_s, 2);
	cr_expect_eq(found[0].calls, 4);
	cr_expect_str_eq(found[1].module, "b");
}

Test(overhead, is_that_of_the_time_between_where_there_were_calls)
{
	const struct msd_overhead before[] = {
		{.module = "a", .calls = 4, .run_s = 2, .added_s = 1, .wait_s = 1},
		{.module = "b", .calls = 3, .run_s = 1}};
	struct msd_overhead after[] = {
		{.module = "b", .calls = 3, .run_s = 1},
		{.module = "a", .calls = 6, .run_s = 6, .added_s = 1.5, .wait_s = 1},
		{.module = "new", .calls = 1, .run_s = 9}};

	msd_overhead_since(after, 3, before, 2);
	cr_expect(!after[0].is_recent && after[1].is_recent && !after[2].is_recent);
	cr_expect_eq(after[0].calls, 3);
	cr_expect_eq(after[1].calls, 2);
	cr_expect_eq(after[1].run_s, 4);
	cr_expect_eq(after[1].added_s, 0.5);
	cr_expect_eq(after[1].wait_s, 0);
	cr_expect_eq(after[2].run_s, 9);
}

/* The process @pid, which @parent has started. */
static void put_process(int pid, const char *name, int parent, unsigned ticks)
{
	char path[64], text[256];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	(void)snprintf(text, sizeof(text),
		       "%d (%s) R %d 1 1 0 -1 4194304 5 6 7 8 %u 1 0 0 20 0 1 0 9\n",
		       pid, name, parent, ticks - 1);
	put_file(root, path, text);
}

Test(neighbours, the_busiest_is_none_of_ones_own, .fini = remove_machine)
{
	struct msd_process_scan before, after;
	struct msd_neighbour busiest;
	const int64_t own[] = {10};

	cr_assert_not_null(mkdtemp(root));
	put_process(1, "init", 0, 100);
	put_process(10, "modserd", 1, 50);
	put_process(11, "worker) R 1 (", 10, 60);
	put_process(20, "cc1", 1, 70);
	msd_process_scan_look(root, &before);
	put_process(10, "modserd", 1, 55);
	put_process(11, "worker) R 1 (", 10, 960);
	put_process(20, "cc1", 1, 90);
	put_process(21, "new\n", 20, 30);
	msd_process_scan_look(root, &after);
	cr_expect_eq(before.n, 4);
	cr_expect_eq(after.n, 5);
	cr_expect_eq(msd_process_scan_own(&before, &after, 10), 905);
	msd_process_scan_busiest(&before, &after, own, 1, &busiest);
	cr_expect_eq(busiest.pid, 21);
	cr_expect_eq(busiest.ticks, 30);
	cr_expect_str_eq(busiest.name, "new?");
	msd_process_scan_finish(&before);
	msd_process_scan_finish(&after);
}

Test(neighbours, of_a_machine_that_shows_none_there_are_none)
{
	struct msd_process_scan none;
	struct msd_neighbour busiest;
	const int64_t own[] = {1};

	msd_process_scan_look("/nonexistent", &none);
	msd_process_scan_busiest(&none, &none, own, 1, &busiest);
	cr_expect_eq(none.n + busiest.ticks + msd_process_scan_own(&none, &none, 1), 0);
	msd_process_scan_finish(&none);
}

Test(floor, is_measured_by_both_kinds_of_sockets)
{
	cr_expect_gt(msd_floor_round(false), 0);
	cr_expect_gt(msd_floor_round(true), 0);
}
