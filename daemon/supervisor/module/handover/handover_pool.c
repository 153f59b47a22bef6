#include "daemon/supervisor/module/handover/handover_pool.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/loop/closer.h"

/*
 * Happy path: four descriptors of different kinds arrive with one name. They belong
 * to one living process, and a module asks for it. Failures: a duplicate or unknown
 * kind, a missing descriptor, or another process than in the name. A process that is
 * proven to be the worker is killed, and no other.
 */

pid_t msd_handover_process_of(int pidfd)
{
	char path[64], line[128];
	long pid = 0;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return 0;
	while (pid == 0 && fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "Pid:", 4) == 0)
			pid = strtol(line + 4, NULL, 10);
	}
	(void)fclose(f);
	return pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* A pidfd of an exited process has no pid: recognize it by the kernel's name for it. */
static bool is_pidfd(int fd)
{
	char path[64], link[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return false;
	link[n] = '\0';
	return strcmp(link, "anon_inode:[pidfd]") == 0 ||
	       strncmp(link, "pidfd:", 6) == 0;
}

enum msd_handover_part msd_handover_part_of(int fd)
{
	const int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) != 0)
		return MSD_HANDOVER_PARTS;
	if (S_ISSOCK(st.st_mode))
		return MSD_HANDOVER_DOOR;
	if (S_ISFIFO(st.st_mode) && (flags & O_ACCMODE) == O_RDONLY)
		return MSD_HANDOVER_OUTPUT;
	if (S_ISFIFO(st.st_mode) && (flags & O_ACCMODE) == O_WRONLY)
		return MSD_HANDOVER_LIFELINE;
	return is_pidfd(fd) ? MSD_HANDOVER_PROCESS : MSD_HANDOVER_PARTS;
}

const char *msd_handover_fault(const struct msd_handover *w)
{
	if (w->is_odd)
		return "it sent descriptors of another process";
	for (unsigned i = 0; i < MSD_HANDOVER_PARTS; i++) {
		if (w->fds[i] < 0)
			return "one of its descriptors is missing";
	}
	if (msd_handover_process_of(w->fds[MSD_HANDOVER_PROCESS]) != w->name.pid)
		return "its process has ended";
	return NULL;
}

void msd_handover_shelf_init(struct msd_handover_shelf *s)
{
	*s = (struct msd_handover_shelf){0};
	msd_list_init(&s->all);
}

static struct msd_handover *find_or_add(struct msd_handover_shelf *s,
					struct msd_span name)
{
	struct msd_handover_name parsed;

	MSD_LIST_EACH (it, &s->all) {
		struct msd_handover *w =
			MSD_CONTAINER_OF(it, struct msd_handover, link);
		if (msd_span_is(name, w->text))
			return w;
	}
	if (s->n >= MSD_HANDOVER_MOST || !msd_handover_name_parse(name, &parsed))
		return NULL;
	struct msd_handover *w = calloc(1, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->name = parsed;
	msd_handover_name_format(&parsed, w->text);
	for (unsigned i = 0; i < MSD_HANDOVER_PARTS; i++)
		w->fds[i] = -1;
	msd_list_append(&s->all, &w->link);
	s->n++;
	return w;
}

bool msd_handover_shelf_put(struct msd_handover_shelf *s, struct msd_span name, int fd)
{
	const enum msd_handover_part part = msd_handover_part_of(fd);
	struct msd_handover *w = find_or_add(s, name);

	if (w == NULL || part == MSD_HANDOVER_PARTS || w->fds[part] >= 0) {
		if (w != NULL)
			w->is_odd = true;
		(void)close(fd);
		return false;
	}
	w->fds[part] = fd;
	return true;
}

static void drop(struct msd_handover_shelf *s, struct msd_handover *w)
{
	msd_list_remove(&w->link);
	s->n--;
}

void msd_handover_shelf_judge(struct msd_handover_shelf *s)
{
	MSD_LIST_EACH_SAFE (it, &s->all) {
		struct msd_handover *w =
			MSD_CONTAINER_OF(it, struct msd_handover, link);
		const char *fault = msd_handover_fault(w);
		if (fault == NULL)
			continue;
		drop(s, w);
		msd_handover_kill(w, fault);
	}
}

struct msd_handover *msd_handover_shelf_pop(struct msd_handover_shelf *s,
					    const struct msd_digest *key)
{
	MSD_LIST_EACH (it, &s->all) {
		struct msd_handover *w =
			MSD_CONTAINER_OF(it, struct msd_handover, link);
		if (!msd_digest_equal(&w->name.key, key))
			continue;
		drop(s, w);
		return w;
	}
	return NULL;
}

bool msd_handover_shelf_has_group(const struct msd_handover_shelf *s, uint64_t group)
{
	MSD_LIST_EACH (it, &s->all) {
		if (MSD_CONTAINER_OF(it, struct msd_handover, link)->name.group ==
		    group)
			return true;
	}
	return false;
}

void msd_handover_shelf_clear(struct msd_handover_shelf *s, const char *why)
{
	struct msd_list *it;

	while ((it = msd_list_first(&s->all)) != NULL) {
		struct msd_handover *w =
			MSD_CONTAINER_OF(it, struct msd_handover, link);
		drop(s, w);
		msd_handover_kill(w, why);
	}
}

void msd_handover_free(struct msd_handover *w)
{
	for (unsigned i = 0; i < MSD_HANDOVER_PARTS; i++) {
		if (i == MSD_HANDOVER_DOOR) {
			/* Descriptors that its worker sent are closed with it. */
			msd_closer_close_socket(w->fds[i], MSD_CLOSER_WORKERS);
		} else if (w->fds[i] >= 0) {
			(void)close(w->fds[i]);
		}
	}
	free(w);
}

/* A pidfd of another process than in the name is foreign: do not kill that process.
 * Closing the lifeline ends a worker whose pidfd is missing. */
void msd_handover_kill(struct msd_handover *w, const char *why)
{
	const int pidfd = w->fds[MSD_HANDOVER_PROCESS];

	msd_log(MSD_LOG_WARN, "worker_adopt", "pid=%d end=yes why=\"%s\"",
		(int)w->name.pid, why);
	if (pidfd >= 0 && msd_handover_process_of(pidfd) == w->name.pid) {
		if (getpgid(w->name.pid) == w->name.pid)
			(void)kill(-w->name.pid, SIGKILL);
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	}
	msd_handover_free(w);
}
