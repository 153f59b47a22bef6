#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/confine/landlock.h"
#include "daemon/confine/sandbox.h"
#include "daemon/confine/sandbox_paths.h"

/*
 * A child enters a sandbox as a kernel would let it, perhaps an older one than this,
 * and tries something; its exit status is what came of it. What each profile holds on
 * this kernel is for tests/e2e/hostile/test_sandbox.py.
 */

static const struct msd_sandbox_plan plan = {.profile = MSD_SANDBOX_CPU,
					     .max_file_bytes = 1 << 20};
static struct msd_sandbox held; /* the child's */

/* What @attempt, which gives 0 or -1 and errno, comes to in a sandbox. */
static int tried(struct msd_sandbox_kernel kernel, int (*attempt)(void))
{
	int status = 0;
	const pid_t child = fork();

	if (child == 0) {
		msd_sandbox_enter(&plan, &kernel, &held);
		_exit(attempt() == 0 ? 0 : errno);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status), "it died of signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* This kernel, but with a Landlock of @abi at most. */
static struct msd_sandbox_kernel kernel_of(unsigned abi)
{
	struct msd_sandbox_kernel kernel;

	msd_sandbox_look(&kernel);
	if (!kernel.has_seccomp || kernel.landlock_abi < abi)
		cr_skip_test("this kernel has less");
	kernel.landlock_abi = abi;
	return kernel;
}

static int signal_parent(void)
{
	return kill(getppid(), 0);
}

static int signal_itself(void)
{
	return kill(getpid(), 0);
}

static int open_foreign(void)
{
	return open("/etc", O_RDONLY | O_CLOEXEC) < 0 ? -1 : 0;
}

static int open_library_folder(void)
{
	return open("/usr/lib", O_RDONLY | O_CLOEXEC) < 0 ? -1 : 0;
}

static int open_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0 ? -1 : 0;
}

static int only_truncation_is_lacking(void)
{
	return held.has_files && !held.has_truncate && held.has_calls &&
			       held.has_signals
		       ? 0
		       : -1;
}

Test(sandbox, without_landlock_signals_to_others_are_refused)
{
	cr_expect_eq(tried(kernel_of(0), signal_parent), EPERM);
	cr_expect_eq(tried(kernel_of(0), signal_itself), 0);
}

Test(sandbox, where_landlock_has_no_signals_those_to_others_are_refused)
{
	cr_expect_eq(tried(kernel_of(2), signal_parent), EPERM);
	cr_expect_eq(tried(kernel_of(2), signal_itself), 0);
}

Test(sandbox, the_oldest_landlock_holds_files)
{
	cr_expect_eq(tried(kernel_of(1), open_foreign), EACCES);
	cr_expect_eq(tried(kernel_of(1), open_library_folder), 0);
}

Test(sandbox, what_a_kernel_lacks_is_known)
{
	cr_expect_eq(tried(kernel_of(2), only_truncation_is_lacking), 0);
}

Test(sandbox, without_seccomp_landlock_holds_signals)
{
	struct msd_sandbox_kernel kernel = kernel_of(MSD_LANDLOCK_SIGNALS);

	kernel.has_seccomp = false;
	cr_expect_eq(tried(kernel, signal_parent), EPERM);
	cr_expect_eq(tried(kernel, open_socket), 0);
}

/* How many of @wanted a profile's places have. */
struct wanted {
	const char *const *paths;
	size_t n, n_found;
};

static void on_place(void *ctx, const char *path, enum msd_landlock_reach reach)
{
	struct wanted *w = ctx;

	for (size_t i = 0; i < w->n && reach == MSD_REACH_USE; i++)
		w->n_found += strcmp(path, w->paths[i]) == 0;
}

static int find_cards(void)
{
	static const char *const paths[] = {MSD_PLACE_NVIDIA, "/dev/nvidia-uvm",
					    "/dev/nvidia0", "/dev/nvidia15"};
	const struct msd_sandbox_plan cuda = {.profile = MSD_SANDBOX_CUDA};
	struct wanted w = {paths, sizeof(paths) / sizeof(paths[0]), 0};
	const struct msd_sandbox_paths_visitor v = {.visit = on_place, .ctx = &w};

	msd_sandbox_paths_visit(&cuda, &v);
	errno = ENODEV;
	return w.n_found == w.n ? 0 : -1;
}

/* A worker enters one profile after the other, and the second is made within the first,
 * where nobody may list /dev. */
Test(sandbox, a_profile_within_another_reaches_the_cards)
{
	cr_expect_eq(tried(kernel_of(1), find_cards), 0);
}
