/*
 * Happy path: /proc/self/cgroup names the group. The daemon is alone in it, moves
 * into a leaf, and enables controllers for its leaves. For each worker it makes a
 * leaf, writes the limits, and opens cgroup.procs for the worker to join. At the end
 * the leaf is killed and removed.
 *
 * Failures:
 *   - any step of the start: control groups are not used, and the cause is reported. An
 *     extra leaf may stay, which does no harm
 *   - a controller is missing: its limit is not set, see msd_cgroups
 *   - a leaf of that name exists, left by an earlier daemon: it is emptied and used
 *   - a leaf is not empty yet at its removal: tried again with each new or
 *     removed leaf, and periodically
 */
#include "daemon/child/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/errno_text.h"

#define LEAF_MODE 0755
#define END_ROUNDS 200
#define SUPERVISOR "supervisor"
#define WORKER "worker-"
#define KILL "cgroup.kill"
#define PROCS "cgroup.procs"

static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

static int put_in(const struct msd_cgroup *c, const char *file, const char *word)
{
	char path[MSD_CGROUP_NAME + 32];

	(void)snprintf(path, sizeof(path), "%s/%s", c->name, file);
	return msd_cgroup_put(c->all->fd, path, word);
}

static int put_limit(const struct msd_cgroup *c, const char *file, uint64_t most)
{
	char word[24];

	if (most == 0)
		return 0;
	(void)snprintf(word, sizeof(word), "%llu", (unsigned long long)most);
	return put_in(c, file, word);
}

static msd_err no_groups(struct msd_diag *d, const char *what, int error)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	if (error == 0)
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s", what);
	return msd_diag_set(d, MSD_UNSUPPORTED, "%s: %s", what,
			    msd_errno_text(error, text));
}

/* The unified hierarchy's line is "0::/group". */
static bool find_group(const char *root, char *ret, size_t room)
{
	char path[PATH_MAX], line[PATH_MAX];
	bool is_found = false;

	(void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return false;
	while (!is_found && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		is_found = strncmp(line, "0::/", 4) == 0 &&
			   snprintf(ret, room, "%s", line + 3) < (int)room;
	}
	(void)fclose(f);
	return is_found;
}

static msd_err open_folder(struct msd_cgroups *g, const char *root, const char *group,
			   struct msd_diag *d)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s/cgroup.controllers", root,
			       mounts[i]);
		if (access(path, F_OK) != 0)
			continue;
		if (snprintf(g->path, sizeof(g->path), "%s%s%s", root, mounts[i],
			     group) >= (int)sizeof(g->path))
			return no_groups(d, "the group's path is too long", 0);
		g->fd = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return g->fd >= 0 ? MSD_OK : no_groups(d, g->path, errno);
	}
	return no_groups(d, "no unified hierarchy is mounted", 0);
}

/* Do not divide groups that another program manages. */
static msd_err check_delegated(const struct msd_cgroups *g, struct msd_diag *d)
{
	char procs[64], want[24], others[16];

	if (faccessat(g->fd, "cgroup.type", F_OK, 0) != 0)
		return no_groups(d, "it is in the root of all groups", 0);
	if (faccessat(g->fd, PROCS, W_OK, AT_EACCESS) != 0)
		return no_groups(d, "its group is not delegated", errno);
	msd_cgroup_get(g->fd, PROCS, procs, sizeof(procs));
	(void)snprintf(want, sizeof(want), "%d\n", (int)getpid());
	if (strcmp(procs, want) != 0)
		return no_groups(d, "others are in its group", 0);
	msd_cgroup_get(g->fd, SUPERVISOR "/" PROCS, others, sizeof(others));
	if (others[0] != '\0')
		return no_groups(d, "another daemon has its group", 0);
	return MSD_OK;
}

static msd_err divide(struct msd_cgroups *g, bool has_limits, struct msd_diag *d)
{
	if (mkdirat(g->fd, SUPERVISOR, LEAF_MODE) != 0 && errno != EEXIST)
		return no_groups(d, "its group cannot be divided", errno);
	const int failed = msd_cgroup_put(g->fd, SUPERVISOR "/" PROCS, "0");
	if (failed != 0)
		return no_groups(d, "it cannot go into a leaf of its group", failed);
	if (!has_limits)
		return MSD_OK;
	g->has_pids = msd_cgroup_put(g->fd, "cgroup.subtree_control", "+pids") == 0;
	g->has_memory = msd_cgroup_put(g->fd, "cgroup.subtree_control", "+memory") == 0;
	return MSD_OK;
}

msd_err msd_cgroups_open(struct msd_cgroups *g, const char *root, bool has_limits,
			 struct msd_diag *d)
{
	char group[PATH_MAX];

	*g = (struct msd_cgroups){.fd = -1};
	if (!find_group(root, group, sizeof(group)))
		return no_groups(d, "it is in no group of the unified hierarchy", 0);
	msd_err err = open_folder(g, root, group, d);
	if (err == MSD_OK)
		err = check_delegated(g, d);
	if (err == MSD_OK)
		err = divide(g, has_limits, d);
	g->is_open = err == MSD_OK;
	if (err != MSD_OK && g->fd >= 0)
		(void)close(g->fd);
	return err;
}

static void close_join(struct msd_cgroup *c)
{
	if (c->join_fd >= 0)
		(void)close(c->join_fd);
	c->join_fd = -1;
}

static bool remove_leaf(const struct msd_cgroup *c)
{
	return unlinkat(c->all->fd, c->name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

void msd_cgroups_tidy(struct msd_cgroups *g)
{
	struct msd_cgroup **at = &g->leaves;

	while (*at != NULL) {
		struct msd_cgroup *c = *at;
		if (!c->is_ended || !remove_leaf(c)) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		free(c);
	}
}

void msd_cgroups_close(struct msd_cgroups *g)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct msd_cgroup *c;

	if (!g->is_open)
		return;
	while ((c = g->leaves) != NULL) {
		g->leaves = c->next;
		msd_cgroup_kill(c);
		for (int i = 0; i < END_ROUNDS && !remove_leaf(c); i++)
			(void)nanosleep(&moment, NULL);
		close_join(c);
		free(c);
	}
	(void)close(g->fd);
	g->is_open = false;
}

static void write_name(struct msd_cgroup *c)
{
	(void)snprintf(c->name, sizeof(c->name), WORKER "%llu",
		       (unsigned long long)c->number);
}

/* Returns 0, or an errno. */
static int set_limits(const struct msd_cgroup *c,
		      const struct msd_cgroup_limits *limits)
{
	int failed = 0;

	if (c->all->has_pids)
		failed = put_limit(c, "pids.max", limits->max_processes);
	if (failed == 0 && c->all->has_memory) {
		failed = put_limit(c, "memory.max", limits->max_memory);
		/* memory.max does not count swap; some kernels have no swap. */
		(void)put_limit(c, "memory.swap.max", limits->max_memory);
		/* Since Linux 4.19; without it the kernel kills one process only. */
		(void)put_in(c, "memory.oom.group", "1");
	}
	return failed;
}

/* Returns 0, or an errno. */
static int make_leaf(struct msd_cgroup *c, const struct msd_cgroup_limits *limits)
{
	char path[MSD_CGROUP_NAME + 32];

	if (mkdirat(c->all->fd, c->name, LEAF_MODE) != 0 && errno != EEXIST)
		return errno;
	msd_cgroup_kill(c);
	const int failed = set_limits(c, limits);
	if (failed != 0)
		return failed;
	(void)snprintf(path, sizeof(path), "%s/%s", c->name, PROCS);
	c->join_fd = openat(c->all->fd, path, O_WRONLY | O_CLOEXEC);
	return c->join_fd < 0 ? errno : 0;
}

msd_err msd_cgroup_create(struct msd_cgroups *g, const struct msd_cgroup_limits *limits,
			  struct msd_cgroup **ret, struct msd_diag *d)
{
	struct msd_cgroup *c = calloc(1, sizeof(*c));
	char text[MSD_ERRNO_TEXT_BYTES];

	if (c == NULL)
		return msd_diag_no_memory(d);
	msd_cgroups_tidy(g);
	c->all = g;
	c->join_fd = -1;
	c->next = g->leaves;
	g->leaves = c;
	c->number = ++g->n_made;
	write_name(c);
	const int failed = make_leaf(c, limits);
	if (failed != 0) {
		(void)msd_diag_set(d, MSD_IO, "control group %s/%s: %s", g->path,
				   c->name, msd_errno_text(failed, text));
		msd_cgroup_end(c);
		return MSD_IO;
	}
	*ret = c;
	return MSD_OK;
}

uint64_t msd_cgroup_number(const struct msd_cgroup *c)
{
	return c->number;
}

msd_err msd_cgroup_find(struct msd_cgroups *g, uint64_t number,
			const struct msd_cgroup_limits *limits, struct msd_cgroup **ret,
			struct msd_diag *d)
{
	struct msd_cgroup *c = calloc(1, sizeof(*c));
	char text[MSD_ERRNO_TEXT_BYTES];

	if (c == NULL)
		return msd_diag_no_memory(d);
	*c = (struct msd_cgroup){.all = g, .number = number, .join_fd = -1};
	write_name(c);
	const int failed =
		faccessat(g->fd, c->name, F_OK, 0) != 0 ? errno : set_limits(c, limits);
	if (failed != 0) {
		(void)msd_diag_set(d, MSD_IO, "control group %s/%s: %s", g->path,
				   c->name, msd_errno_text(failed, text));
		free(c);
		return MSD_IO;
	}
	c->next = g->leaves;
	g->leaves = c;
	*ret = c;
	return MSD_OK;
}

void msd_cgroup_leave(struct msd_cgroup *c)
{
	if (c == NULL)
		return;
	struct msd_cgroup **at = &c->all->leaves;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	close_join(c);
	free(c);
}

/* The leaf is removed by msd_cgroups_tidy() after its last process has ended. */
static void sweep_leaf(struct msd_cgroups *g, uint64_t number)
{
	struct msd_cgroup *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return; /* the leaf stays unchanged */
	*c = (struct msd_cgroup){
		.all = g, .next = g->leaves, .number = number, .join_fd = -1};
	g->leaves = c;
	write_name(c);
	msd_cgroup_kill(c);
	c->is_ended = true;
}

static bool is_own(const struct msd_cgroups *g, uint64_t number)
{
	const struct msd_cgroup *c = g->leaves;

	while (c != NULL && c->number != number)
		c = c->next;
	return c != NULL;
}

void msd_cgroups_sweep(struct msd_cgroups *g,
		       bool (*is_kept)(const void *ctx, uint64_t number),
		       const void *ctx)
{
	const struct dirent *e;

	if (!g->is_open)
		return;
	const int fd = openat(g->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	if (folder == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	while ((e = readdir(folder)) != NULL) {
		char *end;

		if (strncmp(e->d_name, WORKER, strlen(WORKER)) != 0)
			continue;
		const uint64_t n = strtoull(e->d_name + strlen(WORKER), &end, 10);
		if (*end != '\0')
			continue;
		g->n_made = n > g->n_made ? n : g->n_made;
		if (!is_own(g, n) && !is_kept(ctx, n))
			sweep_leaf(g, n);
	}
	(void)closedir(folder);
	msd_cgroups_tidy(g);
}

int msd_cgroup_join_fd(const struct msd_cgroup *c)
{
	return c->join_fd;
}

void msd_cgroup_kill(const struct msd_cgroup *c)
{
	if (c != NULL)
		(void)put_in(c, KILL, "1");
}

void msd_cgroup_end(struct msd_cgroup *c)
{
	if (c == NULL)
		return;
	close_join(c);
	c->is_ended = true;
	msd_cgroups_tidy(c->all);
}

int msd_cgroup_put(int dir, const char *file, const char *word)
{
	const int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	const int failed = write(fd, word, strlen(word)) < 0 ? errno : 0;
	(void)close(fd);
	return failed;
}

void msd_cgroup_get(int dir, const char *file, char *ret, size_t room)
{
	const int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd >= 0 ? read(fd, ret, room - 1) : 0;

	ret[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
}
