#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/daemon/worker/driver.h"

static struct driver w;

/* A call that runs until *flag is set. */
static uint64_t hold(float **ret_flag, struct msd_buf *b)
{
	uint64_t id = driver_call(&w, b, "wait", 1);

	*ret_flag = driver_put_tensor(&w, b, 1);
	driver_send(&w, b);
	return id;
}

Test(worker_life, ends_with_its_channel)
{
	driver_open(&w, MSD_ZOO "calls.so");
	cr_assert_eq(driver_end(&w), 0);
	cr_assert_str_eq(driver_log(&w), "");
}

Test(worker_life, artifact_that_is_none_is_answered_then_exit_3)
{
	driver_start(&w, NULL);
	driver_send_open(&w);
	cr_assert_str_eq(driver_error(&w), "BAD_ARTIFACT");
	cr_assert_not_null(strstr(driver_message(&w), "fixture.so"));
	cr_assert_eq(driver_wait(&w), 3);
}

Test(worker_life, tells_the_functions_of_the_module)
{
	driver_start(&w, MSD_ZOO "calls.so");
	driver_send_open(&w);
	cr_assert_not_null(memmem(w.body.result.p, w.body.result.n,
				  "\xa4name\xa6"
				  "addone",
				  12));
	(void)driver_end(&w);
}

Test(worker_life, call_before_open_is_not_ready)
{
	driver_start(&w, MSD_ZOO "calls.so");
	(void)driver_call_plain(&w, "addone");
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "NOT_READY");
	(void)driver_end(&w);
}

Test(worker_life, method_that_is_not_a_workers_is_unknown)
{
	struct msd_buf b = {0};

	driver_open(&w, MSD_ZOO "calls.so");
	(void)driver_begin(&w, &b, "module.list", false);
	msd_pack_array(&b, 0);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "UNKNOWN_METHOD");
	(void)driver_end(&w);
}

Test(worker_life, cancelled_call_does_not_start)
{
	struct msd_buf b = {0};
	float *flag;

	driver_open(&w, MSD_ZOO "calls.so");
	uint64_t first = hold(&flag, &b);
	uint64_t second = driver_call_plain(&w, "addone");
	msd_body_begin_notification(&b, "cancel");
	msd_pack_array(&b, 1);
	msd_pack_uint(&b, second);
	driver_send(&w, &b);
	*flag = 1.0f;
	/* The first may have started before the cancel came or not: both are answered.
	 */
	for (int i = 0; i < 2; i++) {
		uint64_t id = driver_receive(&w);
		cr_assert_str_eq(driver_error(&w), id == first ? "OK" : "CANCELLED");
	}
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_life, deadline_that_passed_in_the_queue_is_not_run)
{
	struct msd_buf b = {0};

	driver_open(&w, MSD_ZOO "faults.so");
	(void)driver_begin(&w, &b, "call", true);
	msd_pack_array(&b, 1);
	msd_pack_cstr(&b, "m:exit0");
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "deadline_ms");
	msd_pack_int(&b, 0);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "DEADLINE_EXCEEDED");
	cr_assert_eq(driver_end(&w), 0);
}

Test(worker_life, replies_come_in_the_order_of_the_requests)
{
	uint64_t first;

	driver_open(&w, MSD_ZOO "results.so");
	first = driver_call_plain(&w, "int");
	for (int i = 1; i < 100; i++)
		(void)driver_call_plain(&w, "int");
	for (uint64_t i = 0; i < 100; i++)
		cr_assert_eq(driver_receive(&w), first + i);
	(void)driver_end(&w);
}

Test(worker_life, reply_does_not_wait_for_the_call_behind_it)
{
	struct msd_buf b = {0};
	float *flag;

	driver_open(&w, MSD_ZOO "calls.so");
	uint64_t first = driver_call_plain(&w, "lazy");
	(void)hold(&flag, &b);
	cr_assert_eq(driver_receive(&w), first); /* while the second one still runs */
	*flag = 1.0f;
	(void)driver_receive(&w);
	(void)driver_end(&w);
}

/* The answer to a segment that breaks the contract is the end of the channel. */
static void expect_segment_refused(int fd, uint64_t bytes, const char *why)
{
	struct msd_buf b = {0};

	msd_body_begin_notification(&b, "worker.segment");
	msd_pack_array(&b, 3);
	msd_pack_cstr(&b, "in");
	msd_pack_uint(&b, 0);
	msd_pack_uint(&b, bytes);
	driver_send_fd(&w, &b, fd);
	if (fd >= 0)
		(void)close(fd);
	cr_assert(driver_is_lost(&w));
	cr_assert_eq(driver_wait(&w), 1);
	const char *log = driver_log(&w);
	cr_assert_not_null(strstr(log, why), "%s", log);
}

Test(worker_life, unsealed_segment_is_refused)
{
	int fd = memfd_create("segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert_eq(ftruncate(fd, 1 << 20), 0);
	driver_open(&w, MSD_ZOO "calls.so");
	expect_segment_refused(fd, 1 << 20, "not sealed");
}

Test(worker_life, segment_of_another_size_is_refused)
{
	int fd = memfd_create("segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert_eq(ftruncate(fd, 1 << 20), 0);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	driver_open(&w, MSD_ZOO "calls.so");
	expect_segment_refused(fd, 2 << 20, "2097152");
}

Test(worker_life, segment_without_a_descriptor_is_refused)
{
	driver_open(&w, MSD_ZOO "calls.so");
	expect_segment_refused(-1, 1 << 20, "without a descriptor");
}

/* Whether a function of the reply has this signature; what the file's texts say of it
 * is another matter. */
static bool has_told(const char *text)
{
	struct msd_buf b = {0};

	msd_pack_cstr(&b, "signature");
	msd_pack_cstr(&b, text);
	const bool found = memmem(w.body.result.p, w.body.result.n, b.p, b.n) != NULL;
	msd_buf_finish(&b);
	return found;
}

Test(worker_life, function_that_cannot_be_asked_leaves_a_good_module)
{
	struct msd_buf b = {0};

	driver_open(&w, MSD_ZOO "deadly.so");
	cr_assert(has_told("good(k: int32)"));
	cr_assert_not(has_told("crashes(k: int32)"));
	cr_assert_not(has_told("hangs(k: int32)"));
	(void)driver_call(&w, &b, "crashes", 1);
	msd_pack_int(&b, 1);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "OK", "%s", driver_message(&w));
	cr_assert_eq(driver_end(&w), 0);
	cr_assert_str_eq(driver_log(&w), "");
}

/* Calls @function; the worker must die of @signal with @words on standard error. */
static void expect_death(const char *function, int signal, const char *words)
{
	driver_open(&w, MSD_ZOO "faults.so");
	(void)driver_call_plain(&w, function);
	cr_assert(driver_is_lost(&w));
	cr_assert_eq(driver_wait(&w), -signal);
	const char *log = driver_log(&w);
	cr_assert_not_null(strstr(log, words), "%s", log);
}

Test(worker_life, crash_leaves_last_words)
{
	expect_death("crash", SIGSEGV,
		     "modserd-worker: SIGSEGV at 0x8 in call of crash\n");
}

Test(worker_life, stack_overflow_leaves_last_words)
{
	expect_death("overflow_stack", SIGSEGV, "in call of overflow_stack\n");
}

Test(worker_life, abort_leaves_last_words)
{
	expect_death("abort", SIGABRT, "modserd-worker: SIGABRT in call of abort\n");
}

Test(worker_life, crash_in_a_constructor_leaves_last_words)
{
	struct msd_buf b = {0};

	driver_start(&w, MSD_ZOO "constructor_crash.so");
	(void)driver_begin(&w, &b, "worker.open", false);
	msd_pack_array(&b, 1);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "name");
	msd_pack_cstr(&b, "m");
	driver_send(&w, &b);
	cr_assert(driver_is_lost(&w));
	cr_assert_eq(driver_wait(&w), -SIGSEGV);
	const char *log = driver_log(&w);
	cr_assert_not_null(strstr(log, "SIGSEGV at 0x8 in load of m\n"), "%s", log);
}

Test(worker_life, code_that_writes_to_or_closes_low_descriptors_misses_the_channel)
{
	driver_open(&w, MSD_ZOO "faults.so");
	(void)driver_call_plain(&w, "junk_everywhere");
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "OK");
	(void)driver_call_plain(&w, "close_everything");
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "OK");
	(void)driver_call_plain(&w, "ok");
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "OK");
	(void)driver_end(&w);
}
