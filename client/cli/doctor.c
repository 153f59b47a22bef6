/*
 * Happy path: each fact is a number in a file of the kernel's. Failures: a file that is
 * not there, or is written otherwise, tells nothing, and nothing is said of it.
 */
#include "client/cli/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOLEN_PERCENT 2u
#define BUSY_PERCENT 75u
#define IDLE_REQUESTS 10000u /* a second that are no calls */
#define LATE_MS 50u
#define PROCESSORS 1024u

/* The first @n bytes of the file, as text. */
static const char *read_text(const char *root, const char *path, char *ret, size_t n)
{
	char name[8192];
	FILE *f;

	ret[0] = '\0';
	(void)snprintf(name, sizeof(name), "%s%s", root, path);
	f = fopen(name, "re");
	if (f == NULL)
		return ret;
	ret[fread(ret, 1, n - 1, f)] = '\0';
	(void)fclose(f);
	return ret;
}

/* The number behind @key at the beginning of a line. */
static uint64_t number_of(const char *text, const char *key)
{
	const size_t n = strlen(key);

	for (const char *line = text; line != NULL && *line != '\0';) {
		if (strncmp(line, key, n) == 0 && line[n] == ' ')
			return strtoull(line + n, NULL, 10);
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	return 0;
}

/* `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guests are
 * among the users. */
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

/* How often quotas have stopped what runs in @group, which is changed, and in those
 * around it, below @folder. */
static uint64_t sum_held(const char *root, const char *folder, char *group)
{
	char text[4096], path[4200];
	uint64_t held = 0;

	for (char *end = group + strlen(group); end != NULL;
	     end = strrchr(group, '/')) {
		*end = '\0';
		(void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s%s/cpu.stat",
			       folder, group);
		held += number_of(read_text(root, path, text, sizeof(text)),
				  "nr_throttled");
	}
	return held;
}

/* Where the groups lie of which @line tells, `0::GROUP`, or `N:CONTROLLERS:GROUP` of
 * the first version; NULL: they have no quotas of processors. */
static const char *folder_of(const char *line)
{
	const char *list = strchr(line, ':');
	const char *end = list != NULL ? strchr(list + 1, ':') : NULL;

	if (strncmp(line, "0::", 3) == 0)
		return "";
	if (end == NULL)
		return NULL;
	for (const char *at = list + 1; at < end; at += strcspn(at, ",:") + 1) {
		if (strcspn(at, ",:") == 3 && strncmp(at, "cpu", 3) == 0)
			return "/cpu";
	}
	return NULL;
}

/* How often quotas have stopped what runs in the control groups of @pid. */
static uint64_t read_held(const char *root, int64_t pid)
{
	char text[4096], path[64];
	uint64_t held = 0;
	char *rest = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%lld/cgroup", (long long)pid);
	(void)read_text(root, path, text, sizeof(text));
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *folder = folder_of(line);
		char *group = strchr(line, '/');
		if (folder != NULL && group != NULL)
			held += sum_held(root, folder, group);
	}
	return held;
}

void msd_doctor_look(const char *root, int64_t pid, struct msd_doctor_look *ret)
{
	char text[16384], path[128];

	*ret = (struct msd_doctor_look){0};
	read_ticks(read_text(root, "/proc/stat", text, sizeof(text)), ret);
	(void)read_text(root, "/proc/vmstat", text, sizeof(text));
	ret->swapped = number_of(text, "pswpin") + number_of(text, "pswpout");
	ret->held = read_held(root, pid);
	for (unsigned i = 0; i < PROCESSORS; i++) {
		(void)snprintf(path, sizeof(path),
			       "/sys/devices/system/cpu/cpu%u/thermal_throttle/"
			       "core_throttle_count",
			       i);
		if (*read_text(root, path, text, sizeof(text)) == '\0')
			break;
		ret->throttled += strtoull(text, NULL, 10);
	}
}

uint64_t msd_doctor_threads(const char *root, int64_t pid)
{
	char text[4096], path[64];

	(void)snprintf(path, sizeof(path), "/proc/%lld/status", (long long)pid);
	const char *at =
		strstr(read_text(root, path, text, sizeof(text)), "\nThreads:");
	return at != NULL ? strtoull(at + strlen("\nThreads:"), NULL, 10) : 0;
}

/* In hundredths of @ticks; a counter that went back tells nothing. */
static uint64_t percent(uint64_t before, uint64_t after, uint64_t ticks)
{
	return after > before ? 100 * (after - before) / ticks : 0;
}

static void judge_machine(const struct msd_doctor_look *a,
			  const struct msd_doctor_look *b, struct msd_buf *out)
{
	const uint64_t ticks = b->ticks > a->ticks ? b->ticks - a->ticks : 1;
	const uint64_t stolen = percent(a->stolen, b->stolen, ticks);
	const uint64_t busy = percent(a->busy, b->busy, ticks);

	if (b->swapped > a->swapped) {
		msd_buf_printf(out,
			       "It swaps: %llu pages went in or out while this looked. "
			       "Give it more memory, or fewer modules.\n",
			       (unsigned long long)(b->swapped - a->swapped));
	}
	if (stolen >= STOLEN_PERCENT) {
		msd_buf_printf(out,
			       "The host gave %llu %% of its processors' time to "
			       "others.\n",
			       (unsigned long long)stolen);
	}
	if (busy >= BUSY_PERCENT) {
		msd_buf_printf(out,
			       "Its processors are busy, %llu %%: what is measured now "
			       "is measured beside somebody.\n",
			       (unsigned long long)busy);
	}
	if (b->throttled > a->throttled)
		msd_buf_printf(out, "Its processors are slowed for their heat.\n");
	if (b->held > a->held) {
		msd_buf_printf(out, "The quota of this control group (cpu.max, "
				    "cpu.cfs_quota_us) stops "
				    "what runs in it.\n");
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
		judge_machine(before, after, out);
	if (f->is_same_machine && f->n_cores > 0 && f->threads > 2u * f->n_cores) {
		msd_buf_printf(out,
			       "A worker has %llu threads on %u processors: give "
			       "`modserd --threads`, or TVM_NUM_THREADS.\n",
			       (unsigned long long)f->threads, f->n_cores);
	}
	if (idle > IDLE_REQUESTS) {
		msd_buf_printf(out,
			       "Clients ask for %llu things a second that are no "
			       "calls: one of them spins (`modser clients`).\n",
			       (unsigned long long)idle);
	}
	if (f->lag_ms > LATE_MS) {
		msd_buf_printf(out,
			       "The daemon's loop was %llu ms late in the last "
			       "seconds.\n",
			       (unsigned long long)f->lag_ms);
	}
	if (f->landlock == 0) {
		msd_buf_printf(out, "The kernel has no Landlock: a sandbox does not "
				    "keep modules from files.\n");
	}
	if (!f->has_group) {
		msd_buf_printf(out,
			       "No control group is delegated: what a worker starts is "
			       "not bounded in number (docs/bounds.md).\n");
	}
}
