#include "daemon/confine/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers and layouts of Linux's UAPI header, as of version 7. */
#define CALL_CREATE 444
#define CALL_ADD 445
#define CALL_ENTER 446
#define CREATE_VERSION 1u
#define RULE_BELOW 1
#define FS(bit) (UINT64_C(1) << (bit))
enum {
	EXECUTE = 0,
	WRITE_FILE = 1,
	READ_FILE = 2,
	READ_DIR = 3,
	REMOVE_DIR = 4,
	REMOVE_FILE = 5,
	MAKE_CHAR = 6,
	MAKE_DIR = 7,
	MAKE_REG = 8,
	MAKE_SOCK = 9,
	MAKE_FIFO = 10,
	MAKE_BLOCK = 11,
	MAKE_SYM = 12,
	REFER = 13,   /* since version 2 */
	TRUNCATE = 14 /* since version 3 */
};
#define NET_SINCE 4u
#define NET_BIND_AND_CONNECT 3u
#define SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS 3u

struct ruleset {
	uint64_t files, net, scopes;
};
struct rule {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

#define OF_FILES (FS(EXECUTE) | FS(WRITE_FILE) | FS(READ_FILE) | FS(TRUNCATE))
#define READ (FS(READ_FILE) | FS(READ_DIR))
static const uint64_t allows[] = {
	[MSD_REACH_READ] = READ,
	[MSD_REACH_RUN] = READ | FS(EXECUTE),
	[MSD_REACH_USE] = READ | FS(WRITE_FILE) | FS(TRUNCATE),
	/* No sockets: another process could connect to them. */
	[MSD_REACH_WRITE] = READ | FS(WRITE_FILE) | FS(TRUNCATE) | FS(REMOVE_DIR) |
			    FS(REMOVE_FILE) | FS(MAKE_DIR) | FS(MAKE_REG) |
			    FS(MAKE_FIFO) | FS(MAKE_SYM) | FS(REFER),
};

unsigned msd_landlock_abi(void)
{
	const long abi = syscall(CALL_CREATE, NULL, 0, CREATE_VERSION);

	return abi > 0 ? (unsigned)abi : 0;
}

bool msd_landlock_begin(struct msd_landlock *l, unsigned abi)
{
	const unsigned n_files = abi == 1 ? REFER : abi == 2 ? TRUNCATE : TRUNCATE + 1;
	struct ruleset set = {.files = FS(n_files) - 1};

	if (abi >= NET_SINCE)
		set.net = NET_BIND_AND_CONNECT;
	if (abi >= MSD_LANDLOCK_SIGNALS)
		set.scopes = SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS;
	*l = (struct msd_landlock){.fd = -1, .abi = abi, .files = set.files};
	if (abi >= MSD_LANDLOCK_FILES)
		l->fd = (int)syscall(CALL_CREATE, &set, sizeof(set), 0u);
	return l->fd >= 0;
}

void msd_landlock_allow(const struct msd_landlock *l, const char *path,
			enum msd_landlock_reach reach)
{
	struct rule rule = {.allowed = allows[reach] & l->files};
	struct stat st;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return;
	if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.allowed &= OF_FILES;
	/* A rule that fails leaves the path forbidden; the error appears at its use. */
	(void)syscall(CALL_ADD, l->fd, RULE_BELOW, &rule, 0u);
	(void)close(rule.parent_fd);
}

bool msd_landlock_enter(struct msd_landlock *l)
{
	const bool is_in = l->fd >= 0 && syscall(CALL_ENTER, l->fd, 0u) == 0;

	if (l->fd >= 0)
		(void)close(l->fd);
	l->fd = -1;
	return is_in;
}
