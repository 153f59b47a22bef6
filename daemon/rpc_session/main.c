/*
 * modserd-rpc: one session of TVM's RPC. The supervisor has read the client's hello.
 * It passes the shared page as descriptor 3, the socket as 4, and, if there is one, a
 * descriptor to join the control group as 5.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "daemon/confine/crash.h"
#include "daemon/confine/process.h"
#include "daemon/confine/resource_limits.h"
#include "daemon/confine/sandbox.h"
#include "daemon/confine/sandbox_paths.h"
#include "daemon/mark.h"
#include "daemon/rpc_page.h"
#include "daemon/rpc_session/session.h"
#include "proto/base/inherited.h"
#include "proto/value.h"
#include "runtime/packed/global.h"
#include "runtime/pool/pool.h"

#define PAGE_FD MSD_CONFINE_FIRST_FD
#define SOCKET_FD (MSD_CONFINE_FIRST_FD + 1)
#define GROUP_FD (MSD_CONFINE_FIRST_FD + 2)

struct given {
	struct msd_resource_limits limits;
	uint64_t max_payload, max_files, read_stall_ms, write_stall_ms, threads;
	uint64_t has_group;
	uint64_t parent; /* process id of the supervisor */
	enum msd_sandbox_word sandbox;
	struct msd_buf reads, writes; /* msgpack str */
};

static bool take_count(struct given *g, struct msd_span key, const char *value)
{
	const struct {
		const char *key;
		uint64_t *to;
	} rows[] = {{"max-data", &g->limits.max_data},
		    {"max-open-files", &g->limits.max_files},
		    {"max-core", &g->limits.max_core},
		    {"max-payload", &g->max_payload},
		    {"max-rpc-files", &g->max_files},
		    {"read-stall", &g->read_stall_ms},
		    {"write-stall", &g->write_stall_ms},
		    {"threads", &g->threads},
		    {"group", &g->has_group},
		    {"parent", &g->parent}};
	char *end;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!msd_span_is(key, rows[i].key))
			continue;
		*rows[i].to = strtoull(value, &end, 10);
		return end != value && *end == '\0';
	}
	return false;
}

static bool take_sandbox(struct given *g, const char *value)
{
	for (enum msd_sandbox_word w = MSD_SANDBOX_AUTO; w <= MSD_SANDBOX_TRUSTED;
	     w++) {
		if (strcmp(msd_sandbox_word_name(w), value) == 0) {
			g->sandbox = w;
			return true;
		}
	}
	return false;
}

/* --name NAME, for process lists, then KEY=VALUE words. */
static bool read_args(int argc, char **argv, struct given *g)
{
	if (argc < 3 || strcmp(argv[1], "--name") != 0)
		return false;
	for (int i = 3; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');
		const struct msd_span key = {(const uint8_t *)argv[i],
					     equals != NULL ? (size_t)(equals - argv[i])
							    : 0};

		if (equals == NULL)
			return false;
		if (msd_span_is(key, "may-read")) {
			msd_pack_cstr(&g->reads, equals + 1);
		} else if (msd_span_is(key, "may-write")) {
			msd_pack_cstr(&g->writes, equals + 1);
		} else if (!(msd_span_is(key, "sandbox")
				     ? take_sandbox(g, equals + 1)
				     : take_count(g, key, equals + 1))) {
			return false;
		}
	}
	return !g->reads.bad && !g->writes.bad;
}

static void set_stall(int fd, int option, uint64_t ms)
{
	const struct timeval t = {.tv_sec = (time_t)(ms / 1000),
				  .tv_usec = (suseconds_t)(ms % 1000) * 1000};

	(void)setsockopt(fd, SOL_SOCKET, option, &t, sizeof(t));
}

/*
 * A session does not know yet which devices its client will use. As a module may have
 * code for any device, it gets the rights for all that this machine can have.
 */
static enum msd_sandbox_word profile_of(enum msd_sandbox_word word)
{
	if (word != MSD_SANDBOX_AUTO)
		return word;
	return access(MSD_PLACE_NVIDIA, F_OK) == 0 ? MSD_SANDBOX_AUTO
						   : MSD_SANDBOX_OPENCL;
}

static void enter_sandbox(const struct given *g, int fd)
{
	struct msd_sandbox_plan plan = {.profile = profile_of(g->sandbox),
					.reads = {g->reads.p, g->reads.n},
					.writes = {g->writes.p, g->writes.n},
					.loop_fd = fd,
					.channel_fd = fd,
					.last_fd = fd,
					.max_file_bytes = g->max_payload};
	struct msd_sandbox_kernel kernel;
	struct msd_sandbox ret;

	msd_sandbox_look(&kernel);
	msd_sandbox_enter(&plan, &kernel, &ret);
}

static msd_err map_page(struct msd_rpc_page **ret, struct msd_diag *d)
{
	void *p = mmap(NULL, sizeof(**ret), PROT_READ | PROT_WRITE, MAP_SHARED, PAGE_FD,
		       0);

	if (p == MAP_FAILED)
		return msd_diag_set(d, MSD_IO, "its page cannot be mapped");
	*ret = p;
	return MSD_OK;
}

static msd_err prepare(const struct given *g, struct msd_rpc_channel *ret,
		       struct msd_diag *d)
{
	msd_err err = msd_confine_begin(false, g->has_group ? GROUP_FD : -1, 2, d);

	/* The first descriptor is no channel, whose end would tell this. */
	if (err == MSD_OK && g->parent != 0 && (uint64_t)getppid() != g->parent)
		err = msd_diag_set(d, MSD_IO, "the supervisor has gone");
	if (err == MSD_OK)
		err = map_page(&ret->page, d);
	if (err == MSD_OK)
		err = msd_confine_move_up(SOCKET_FD, &ret->fd, d);
	if (err == MSD_OK)
		err = msd_confine_fill_low(d);
	if (err == MSD_OK)
		err = msd_resource_limits_apply(&g->limits, d);
	if (err != MSD_OK)
		return err;
	set_stall(ret->fd, SO_RCVTIMEO, g->read_stall_ms);
	set_stall(ret->fd, SO_SNDTIMEO, g->write_stall_ms);
	enter_sandbox(g, ret->fd);
	msd_pool_share(1);
	msd_pool_configure((unsigned)g->threads);
	return MSD_OK;
}

int main(int argc, char **argv)
{
	struct given g = {.max_payload = 4ull << 30,
			  .max_files = 64,
			  .read_stall_ms = 30000,
			  .write_stall_ms = 30000,
			  .sandbox = MSD_SANDBOX_AUTO};
	struct msd_rpc_session session = {0};
	struct msd_diag d = {0};

	if (!msd_inherited_open_standard())
		return 2;
	msd_mark_set();
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)printf("modserd-rpc %s\n", MSD_VERSION);
		return 0;
	}
	if (!read_args(argc, argv, &g)) {
		(void)fprintf(stderr,
			      "modserd-rpc: only modserd can start this program\n");
		return 2;
	}
	if (prepare(&g, &session.channel, &d) != MSD_OK) {
		(void)fprintf(stderr, "modserd-rpc: %s\n", msd_diag_text(&d));
		return 2;
	}
	msd_crash_install("modserd-rpc");
	session.channel.max_bytes = g.max_payload;
	msd_globals_open();
	session.max_bytes = g.limits.max_data;
	session.max_threads = msd_pool_size();
	session.files.most = (uint32_t)g.max_files;
	msd_confine_exit(msd_rpc_session_run(&session));
}
