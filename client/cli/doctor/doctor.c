/* Happy path: each fact is a number in a kernel file. Failures: a file that is
 * missing or has another format is ignored. */
#include "client/cli/doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/proc.h"

#define STOLEN_PERCENT 2u
#define OTHERS_PERCENT 20u /* of all processors */
#define ONE_PERCENT 20u    /* of one processor, by one process */
#define WAITED_PERCENT 20u
#define OTHER_THREADS 2u    /* threads of a worker outside its pool */
#define IDLE_REQUESTS 2000u /* requests a second that are not calls */
#define IDLE_FACTOR 4u      /* transfers of tensors for calls are not idle */
#define BUSY_MS 10000u
#define LATE_MS 50u
#define MAX_PROCESSORS 1024u

/* `cpu user nice system idle iowait irq softirq steal guest guest_nice`; user
 * includes guest. */
static void read_ticks(const char *text, struct msd_doctor_look *ret)
{
	char *at = strstr(text, "cpu ") == text ? (char *)(uintptr_t)text + 4 : NULL;

	for (unsigned i = 0; at != NULL && i < 8; i++) {
		const uint64_t n = strtoull(at, &at, 10);
		ret->ticks += n;
		ret->stolen += i == 7 ? n : 0;
		ret->busy += i == 3 || i == 4 || i == 7 ? 0 : n;
	}
}

/* Add the number of times that a group's quota stopped its processes. */
static void count_held(void *ctx, const char *root, const char *folder)
{
	char text[4096], path[4300];

	(void)snprintf(path, sizeof(path), "%s/cpu.stat", folder);
	*(uint64_t *)ctx += msd_proc_number(
		msd_proc_text(root, path, text, sizeof(text)), "nr_throttled");
}

/* `some avg10=... total=MICROSECONDS`: time in which a task waited for a processor. */
static uint64_t read_waited(const char *text)
{
	const char *at = strstr(text, "total=");

	return strncmp(text, "some ", 5) == 0 && at != NULL
		       ? strtoull(at + strlen("total="), NULL, 10)
		       : 0;
}

void msd_doctor_look(const char *root, int64_t pid, struct msd_doctor_look *ret)
{
	char text[16384], path[128];

	*ret = (struct msd_doctor_look){0};
	read_ticks(msd_proc_text(root, "/proc/stat", text, sizeof(text)), ret);
	(void)msd_proc_text(root, "/proc/vmstat", text, sizeof(text));
	ret->swapped =
		msd_proc_number(text, "pswpin") + msd_proc_number(text, "pswpout");
	ret->waited_us = read_waited(
		msd_proc_text(root, "/proc/pressure/cpu", text, sizeof(text)));
	msd_proc_groups(root, pid, count_held, &ret->held);
	for (unsigned i = 0; i < MAX_PROCESSORS; i++) {
		(void)snprintf(path, sizeof(path),
			       "/sys/devices/system/cpu/cpu%u/thermal_throttle/"
			       "core_throttle_count",
			       i);
		if (*msd_proc_text(root, path, text, sizeof(text)) == '\0')
			break;
		ret->throttled += strtoull(text, NULL, 10);
	}
}

uint64_t msd_doctor_threads(const char *root, int64_t pid)
{
	char text[4096], path[64];

	(void)snprintf(path, sizeof(path), "/proc/%lld/status", (long long)pid);
	const char *at =
		strstr(msd_proc_text(root, path, text, sizeof(text)), "\nThreads:");
	return at != NULL ? strtoull(at + strlen("\nThreads:"), NULL, 10) : 0;
}

/* In percent of @ticks; 0 if the counter decreased. */
static uint64_t percent(uint64_t before, uint64_t after, uint64_t ticks)
{
	return after > before ? 100 * (after - before) / ticks : 0;
}

/* Processor time of this machine, except that of the daemon and this client. */
static uint64_t percent_of_others(const struct msd_doctor_look *a,
				  const struct msd_doctor_look *b,
				  const struct msd_doctor_facts *f, uint64_t ticks)
{
	return percent(a->busy + f->own_ticks, b->busy, ticks);
}

static void judge_neighbours(const struct msd_doctor_look *a,
			     const struct msd_doctor_look *b,
			     const struct msd_doctor_facts *f, struct msd_buf *out)
{
	const uint64_t ticks = b->ticks > a->ticks ? b->ticks - a->ticks : 1;
	const uint64_t others = percent_of_others(a, b, f, ticks);
	const uint64_t each = f->n_processors > 0 ? ticks / f->n_processors : ticks;
	const uint64_t one = each > 0 ? 100 * f->busiest.ticks / each : 0;
	const uint64_t waited =
		b->waited_us > a->waited_us && f->seconds > 0
			? (b->waited_us - a->waited_us) / f->seconds / 10000u
			: 0;

	if (others >= OTHERS_PERCENT && one >= ONE_PERCENT) {
		msd_buf_printf(out,
			       "Other processes use %llu %% of its processors, most of "
			       "all process %lld (%s) with %llu %% of one: they "
			       "influence what you measure now.\n",
			       (unsigned long long)others, (long long)f->busiest.pid,
			       f->busiest.name, (unsigned long long)one);
	} else if (others >= OTHERS_PERCENT) {
		msd_buf_printf(out,
			       "Other processes use %llu %% of its processors, none "
			       "that modser can see uses most: they influence what you "
			       "measure now.\n",
			       (unsigned long long)others);
	} else if (waited >= WAITED_PERCENT) {
		msd_buf_printf(out,
			       "In %llu %% of the time a runnable thread waited for a "
			       "processor.\n",
			       (unsigned long long)waited);
	}
}

static void judge_machine(const struct msd_doctor_look *a,
			  const struct msd_doctor_look *b,
			  const struct msd_doctor_facts *f, struct msd_buf *out)
{
	const uint64_t ticks = b->ticks > a->ticks ? b->ticks - a->ticks : 1;
	const uint64_t stolen = percent(a->stolen, b->stolen, ticks);

	if (b->swapped > a->swapped) {
		msd_buf_printf(out,
			       "It swaps: %llu pages during this measurement. Add "
			       "memory, or load fewer modules.\n",
			       (unsigned long long)(b->swapped - a->swapped));
	}
	if (stolen >= STOLEN_PERCENT) {
		msd_buf_printf(out,
			       "The host took %llu %% of the processor time (steal).\n",
			       (unsigned long long)stolen);
	}
	judge_neighbours(a, b, f, out);
	if (b->throttled > a->throttled)
		msd_buf_printf(out, "Its processors are throttled because of heat.\n");
	if (b->held > a->held) {
		msd_buf_printf(out, "The CPU quota of this control group (cpu.max, "
				    "cpu.cfs_quota_us) throttles its processes.\n");
	}
	if (f->n_cores > 0 && f->threads > f->n_cores + OTHER_THREADS) {
		msd_buf_printf(
			out,
			"A worker has %llu threads, but the daemon may use %u "
			"processors: set `modserd --threads`, or TVM_NUM_THREADS.\n",
			(unsigned long long)f->threads, f->n_cores);
	}
}

void msd_doctor_judge(const struct msd_doctor_look *before,
		      const struct msd_doctor_look *after,
		      const struct msd_doctor_facts *f, struct msd_buf *out)
{
	const uint64_t idle = f->seconds > 0 && f->requests > f->calls
				      ? (f->requests - f->calls) / f->seconds
				      : 0;

	if (f->is_same_machine)
		judge_machine(before, after, f, out);
	if (idle > IDLE_REQUESTS && idle > IDLE_FACTOR * (f->calls / f->seconds)) {
		msd_buf_printf(out,
			       "Clients send %llu requests a second that are not "
			       "calls: a client polls (`modser clients`).\n",
			       (unsigned long long)idle);
	}
	if (f->lag_ms > LATE_MS) {
		msd_buf_printf(out,
			       "The daemon's event loop was %llu ms late in the last "
			       "seconds.\n",
			       (unsigned long long)f->lag_ms);
	}
	if (f->busy_ms >= BUSY_MS) {
		msd_buf_printf(out,
			       "A worker of module %s has been busy with one call for "
			       "%llu s: it is slow, hangs or was stopped (`modser show "
			       "%s`).\n",
			       f->busy, (unsigned long long)f->busy_ms / 1000, f->busy);
	}
	if (f->landlock == 0) {
		msd_buf_printf(out, "The kernel has no Landlock: a sandbox cannot "
				    "protect files from modules.\n");
	}
	if (!f->has_group) {
		msd_buf_printf(
			out,
			"No control group is delegated: the number of processes "
			"of a worker is not limited (docs/internals/bounds.md).\n");
	}
}
