#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/child/reaper.h"
#include "daemon/supervisor/edge/methods/devices.h"

/* A search by a script that stands for modserd-worker. */
static uv_loop_t loop;
static struct msd_reaper reaper;
static struct msd_tasks tasks;
static struct msd_deadlines deadlines;
static struct msd_devices devices;
static char path[64];
static unsigned n_known;

static void on_known(void *user)
{
	(void)user;
	n_known++;
}

static void begin(const char *script)
{
	(void)strcpy(path, "/tmp/modserd-devices-XXXXXX");
	int fd = mkstemp(path);
	size_t n = strlen(script);
	cr_assert(fd >= 0 && write(fd, script, n) == (ssize_t)n);
	cr_assert_eq(fchmod(fd, 0700), 0);
	close(fd);
	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	msd_deadlines_init(&deadlines, &tasks);
	msd_reaper_init(&reaper, &loop);
	msd_devices_init(&devices, &reaper, &deadlines, path);
	devices.on_known = on_known;
}

/* Until it is known; then nothing may be left open. */
static void end(void)
{
	while (devices.child != NULL)
		(void)uv_run(&loop, UV_RUN_ONCE);
	(void)unlink(path);
	msd_deadlines_close(&deadlines);
	msd_tasks_close(&tasks);
	msd_reaper_close(&reaper);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0, "no handle is left");
	msd_devices_finish(&devices);
}

/* The answer's bytes hold @word. */
static bool tells(const char *word)
{
	return memmem(devices.found.p, devices.found.n, word, strlen(word)) != NULL;
}

Test(devices, keep_what_the_process_has_written, .timeout = 300)
{
	/* [1, 0, nil, {"devices": []}] */
	begin("#!/bin/sh\nprintf '\\224\\001\\000\\300\\201\\247devices\\220'\n");
	cr_expect_not(msd_devices_look(&devices),
		      "not known before somebody has looked");
	while (n_known == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	cr_expect(msd_devices_look(&devices));
	cr_expect_eq(devices.found.n, 10, "the result alone: {\"devices\": []}");
	cr_expect(tells("devices"));
	cr_expect_eq(n_known, 1);
	end();
}

Test(devices, a_process_that_dies_is_an_answer_without_any, .timeout = 300)
{
	begin("#!/bin/sh\nkill -SEGV $$\n");
	(void)msd_devices_look(&devices);
	(void)msd_devices_look(&devices); /* a second question starts no second one */
	while (n_known == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	cr_expect(tells("died or wrote invalid data"));
	cr_expect(msd_devices_look(&devices), "it is kept");
	end();
	cr_expect_eq(n_known, 1);
}

Test(devices, nonsense_is_an_answer_without_any, .timeout = 300)
{
	begin("#!/bin/sh\necho a driver says hello\n");
	(void)msd_devices_look(&devices);
	while (n_known == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	cr_expect(tells("died or wrote invalid data"));
	end();
}

Test(devices, a_program_that_is_not_there_is_known, .timeout = 300)
{
	begin("");
	(void)unlink(path);
	(void)msd_devices_look(&devices);
	while (n_known == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	cr_expect(tells("cannot be started"));
	end();
}
