/*
 * Gets signatures that a function only returns when it is called.
 *
 * Happy path: a child of this process queries all functions and exits normally. So
 * the queries are harmless, and the worker repeats them itself.
 *
 * Failures: the child dies or takes too long. Shared memory holds the function that
 * it was at. The next child skips that function, and so does the worker. A function
 * that could not be queried has no signature; the load continues.
 */
#include "daemon/worker/probe.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/confine/crash.h"
#include "proto/base/clock.h"

/*
 * For all children together: signatures are optional, so a load must not wait long
 * for them. CPU time is limited, so a busy machine loses no signatures. A child that
 * blocks uses none, and the wall clock ends it.
 */
#define CPU_NS UINT64_C(2000000000)
#define LATEST_NS UINT64_C(10000000000)
/* Functions that may kill a child before the remaining ones stay unknown. */
#define MAX_DEADLY 8

static bool ask_nobody(void *ctx, size_t place)
{
	(void)ctx, (void)place;
	return false;
}

/* State of parent and children. */
struct probing {
	_Atomic size_t *asking; /* shared: index of the child's current function */
	size_t deadly[MAX_DEADLY];
	size_t n_deadly;
	size_t end;           /* functions from this index on are skipped */
	uint64_t cpu_ns_left; /* for the remaining children */
	uint64_t end_ns;      /* msd_now_ns() */
};

static bool may_ask(void *ctx, size_t place)
{
	const struct probing *p = ctx;

	for (size_t i = 0; i < p->n_deadly; i++) {
		if (p->deadly[i] == place)
			return false;
	}
	return place < p->end;
}

static bool may_ask_and_tell(void *ctx, size_t place)
{
	struct probing *p = ctx;

	atomic_store(p->asking, place);
	return may_ask(ctx, place);
}

/* If a sandbox forbids signals to other processes, the child must end itself,
 * slightly after its time limit. */
static void end_in_time(const struct probing *p)
{
	const rlim_t cpu_s = p->cpu_ns_left / 1000000000u + 1;
	const struct rlimit limit = {cpu_s, cpu_s};

	(void)setrlimit(RLIMIT_CPU, &limit);
	(void)alarm((unsigned)(LATEST_NS / 1000000000u) + 1);
}

/* Runs in the child: its changes to memory and its output are discarded, and it keeps
 * no descriptor open that would outlive the worker. */
_Noreturn static void ask_all(struct msd_loaded *m, struct probing *p, pid_t worker)
{
	const struct msd_probe_gate gate = {may_ask_and_tell, p};
	struct msd_diag d = {0};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != worker)
		_exit(1); /* the worker died before the death signal was set */
	msd_crash_uninstall();
	end_in_time(p);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	(void)dup2(null, STDOUT_FILENO);
	(void)dup2(null, STDERR_FILENO);
	(void)close_range(STDERR_FILENO + 1, UINT_MAX, 0);
	_exit(msd_loaded_probe(m, &gate, &d) == MSD_OK ? 0 : 1);
}

static uint64_t cpu_ns_of(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return UINT64_MAX;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Remaining time for @pid, which has used @cpu_ns; 0: none. */
static uint64_t ns_left(const struct probing *p, uint64_t cpu_ns)
{
	const uint64_t now = msd_now_ns();

	if (cpu_ns >= p->cpu_ns_left || now >= p->end_ns)
		return 0;
	return p->cpu_ns_left - cpu_ns < p->end_ns - now ? p->cpu_ns_left - cpu_ns
							 : p->end_ns - now;
}

/* Wait for @pid within its time limit, then kill it. True if it has queried all
 * functions. */
static bool wait_for(struct probing *p, pid_t pid)
{
	struct pollfd ended = {.fd = pidfd_open(pid, 0), .events = POLLIN};
	uint64_t cpu_ns = 0, left = 0;
	int status = 0;
	int rc = 0;

	while (ended.fd >= 0 && rc == 0 && (left = ns_left(p, cpu_ns)) > 0) {
		rc = poll(&ended, 1, (int)(left / MSD_NS_PER_MS) + 1);
		cpu_ns = rc == 0 ? cpu_ns_of(pid) : cpu_ns;
	}
	if (rc != 1)
		(void)kill(pid, SIGKILL);
	if (ended.fd >= 0)
		(void)close(ended.fd);
	p->cpu_ns_left -= cpu_ns < p->cpu_ns_left ? cpu_ns : p->cpu_ns_left;
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

/* Run one child. True if no more can be learned. */
static bool try_all(struct msd_loaded *m, struct probing *p)
{
	atomic_store(p->asking, 0);
	const pid_t worker = getpid();
	pid_t pid = fork();
	if (pid == 0)
		ask_all(m, p, worker);
	if (pid < 0) {
		p->end = 0;
		return true;
	}
	if (wait_for(p, pid))
		return true;
	p->deadly[p->n_deadly++] = atomic_load(p->asking);
	if (p->n_deadly < MAX_DEADLY && ns_left(p, 0) > 0)
		return false;
	p->end = p->deadly[p->n_deadly - 1];
	return true;
}

msd_err msd_probe_signatures(struct msd_loaded *m, struct msd_diag *d)
{
	struct probing p = {.end = SIZE_MAX,
			    .cpu_ns_left = CPU_NS,
			    .end_ns = msd_now_ns() + LATEST_NS};
	const struct msd_probe_gate gate = {may_ask, &p};
	void *page = mmap(NULL, sizeof(*p.asking), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return msd_diag_no_memory(d);
	p.asking = page;
	/* The list of functions to query is read from the file: once, before the
	 * children. */
	const struct msd_probe_gate nobody = {ask_nobody, NULL};
	msd_err err = msd_loaded_probe(m, &nobody, d);
	while (err == MSD_OK && !try_all(m, &p))
		continue;
	(void)munmap(page, sizeof(*p.asking));
	return err != MSD_OK ? err : msd_loaded_probe(m, &gate, d);
}
