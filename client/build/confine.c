#include "client/build/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_FILES                                                                     \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |                   \
	 LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE_FILES                                                                    \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |              \
	 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |                 \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM)
/* Access rights that are restricted but never granted: file types that a compiler
 * does not create. */
#define NEVER                                                                          \
	(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |                \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO)

/* Access rights of a single file: a rule for a file may not contain rights of
 * folders. */
#define OF_A_FILE                                                                      \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |                   \
	 LANDLOCK_ACCESS_FS_WRITE_FILE)

/* A path that does not exist needs no rule. */
static int allow(int rules, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr beneath = {.allowed_access = access};
	int error = 0;

	beneath.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (beneath.parent_fd < 0)
		return errno == ENOENT ? 0 : errno;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath,
		    0) != 0)
		error = errno;
	(void)close(beneath.parent_fd);
	return error;
}

/* Find program @name in PATH, as a shell does; false if absent. */
static bool find_program(const char *name, char ret[static PATH_MAX])
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	if (strchr(name, '/') != NULL)
		return realpath(name, ret) != NULL;
	while (path != NULL && *path != '\0') {
		const int n = (int)strcspn(path, ":");

		(void)snprintf(file, sizeof(file), "%.*s/%s", n, path, name);
		if (access(file, X_OK) == 0)
			return realpath(file, ret) != NULL;
		path += n + (path[n] == ':');
	}
	return false;
}

/* A tool chain in its own folder: allow PREFIX/bin/cc and its parts, but not all of
 * PREFIX, which may be a home directory. */
static int allow_tool(int rules, const char *tool)
{
	static const char *const parts[] = {"bin",     "lib",     "lib64",
					    "libexec", "include", "sysroot"};
	char prefix[PATH_MAX];
	char part[PATH_MAX + 16];
	int error = 0;

	if (!find_program(tool, prefix))
		return 0; /* the start will fail, too */
	error = allow(rules, prefix, OF_A_FILE & ~LANDLOCK_ACCESS_FS_WRITE_FILE);
	for (unsigned i = 0; i < 2; i++) {
		char *slash = strrchr(prefix, '/');
		if (slash != NULL)
			*slash = '\0';
	}
	for (size_t i = 0; error == 0 && i < sizeof(parts) / sizeof(*parts); i++) {
		(void)snprintf(part, sizeof(part), "%s/%s", prefix, parts[i]);
		error = allow(rules, part, READ_FILES);
	}
	return error;
}

static int fill(int rules, const struct msd_confine *c)
{
	static const char *const folders[] = {"/usr",    "/bin",   "/sbin",
					      "/lib",    "/lib32", "/lib64",
					      "/libx32", "/opt",   "/etc/alternatives"};
	static const char *const files[] = {"/etc/ld.so.cache", "/dev/null",
					    "/dev/zero", "/dev/urandom"};
	int error = allow(rules, c->dir, READ_FILES | WRITE_FILES);

	if (error == 0)
		error = allow_tool(rules, c->tool);
	if (error == 0 && c->folder != NULL)
		error = allow(rules, c->folder, READ_FILES);
	for (size_t i = 0; error == 0 && i < c->n_files; i++)
		error = allow(rules, c->files[i], LANDLOCK_ACCESS_FS_READ_FILE);
	for (size_t i = 0; error == 0 && i < sizeof(folders) / sizeof(*folders); i++)
		error = allow(rules, folders[i], READ_FILES);
	for (size_t i = 0; error == 0 && i < sizeof(files) / sizeof(*files); i++)
		error = allow(rules, files[i], OF_A_FILE);
	return error;
}

bool msd_confine_is_off(void)
{
	return getenv("MODSER_TRUST_SOURCES") != NULL;
}

int msd_confine_process(const struct msd_confine *c)
{
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = READ_FILES | WRITE_FILES | NEVER};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (rules < 0)
		return errno;
	int error = fill(rules, c);
	if (error == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		error = errno;
	if (error == 0 && syscall(SYS_landlock_restrict_self, rules, 0) != 0)
		error = errno;
	(void)close(rules);
	return error;
}
