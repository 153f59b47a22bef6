#include "client/cli/measure/process_scan.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/proc.h"

#define ANCESTORS 16 /* most ancestors that are followed */

/* Skip @n words from @at; NULL if there are not enough. */
static const char *skip(const char *at, unsigned n)
{
	for (; at != NULL && n > 0; n--) {
		at = strchr(at, ' ');
		at = at != NULL ? at + 1 : NULL;
	}
	return at;
}

/* `PID (NAME) STATE PARENT ... UTIME STIME`, the times are the 14th and 15th; NAME
 * may contain any character. */
static bool read_process(const char *text, struct msd_neighbour *ret)
{
	const char *open = strchr(text, '('), *end = strrchr(text, ')');
	const char *parent = skip(end, 2), *user = skip(parent, 10),
		   *system = skip(user, 1);

	if (open == NULL || system == NULL)
		return false;
	*ret = (struct msd_neighbour){.pid = strtoll(text, NULL, 10),
				      .parent = strtoll(parent, NULL, 10),
				      .ticks = strtoull(user, NULL, 10) +
					       strtoull(system, NULL, 10)};
	(void)snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(end - open - 1),
		       open + 1);
	for (char *c = ret->name; *c != '\0'; c++) {
		if (!isprint((unsigned char)*c))
			*c = '?';
	}
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct msd_neighbour *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void msd_process_scan_look(const char *root, struct msd_process_scan *ret)
{
	char path[512], text[1024];
	const struct dirent *it;

	*ret = (struct msd_process_scan){0};
	(void)snprintf(path, sizeof(path), "%s/proc", root);
	DIR *folder = opendir(path);
	if (folder == NULL)
		return;
	ret->all = calloc(MSD_PROCESS_SCAN, sizeof(*ret->all));
	while (ret->all != NULL && ret->n < MSD_PROCESS_SCAN &&
	       (it = readdir(folder)) != NULL) {
		if (!isdigit((unsigned char)it->d_name[0]))
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%.16s/stat", it->d_name);
		ret->n += read_process(msd_proc_text(root, path, text, sizeof(text)),
				       &ret->all[ret->n]);
	}
	(void)closedir(folder);
	if (ret->all != NULL)
		qsort(ret->all, ret->n, sizeof(*ret->all), by_pid);
}

void msd_process_scan_finish(struct msd_process_scan *n)
{
	free(n->all);
	*n = (struct msd_process_scan){0};
}

static const struct msd_neighbour *find(const struct msd_process_scan *n, int64_t pid)
{
	const struct msd_neighbour key = {.pid = pid};

	return n->n > 0 ? bsearch(&key, n->all, n->n, sizeof(key), by_pid) : NULL;
}

/* True if @p is @pid or its descendant. */
static bool is_of(const struct msd_process_scan *n, const struct msd_neighbour *p,
		  int64_t pid)
{
	for (int i = 0; p != NULL && i < ANCESTORS; i++) {
		if (p->pid == pid)
			return true;
		p = find(n, p->parent);
	}
	return false;
}

static uint64_t ticks_of(const struct msd_process_scan *before,
			 const struct msd_neighbour *p)
{
	const struct msd_neighbour *was = find(before, p->pid);

	return was == NULL             ? p->ticks
	       : p->ticks > was->ticks ? p->ticks - was->ticks
				       : 0;
}

uint64_t msd_process_scan_own(const struct msd_process_scan *before,
			      const struct msd_process_scan *after, int64_t pid)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i < after->n; i++) {
		if (is_of(after, &after->all[i], pid))
			ticks += ticks_of(before, &after->all[i]);
	}
	return ticks;
}

void msd_process_scan_busiest(const struct msd_process_scan *before,
			      const struct msd_process_scan *after, const int64_t *own,
			      size_t n_own, struct msd_neighbour *ret)
{
	*ret = (struct msd_neighbour){0};
	for (size_t i = 0; i < after->n; i++) {
		const uint64_t ticks = ticks_of(before, &after->all[i]);
		bool is_own = false;
		for (size_t k = 0; k < n_own; k++)
			is_own = is_own || is_of(after, &after->all[i], own[k]);
		if (is_own || ticks <= ret->ticks)
			continue;
		*ret = after->all[i];
		ret->ticks = ticks;
	}
}
