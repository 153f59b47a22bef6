#include "daemon/worker/weights.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/confine/resource_limits.h"
#include "daemon/worker/worker.h"
#include "proto/value.h"
#include "proto/words/run_options.h"
#include "runtime/engine/weights.h"

static struct {
	bool is_given, is_filled;
	int fd;
	uint64_t bytes;
	struct msd_buf key;
} given;

msd_err msd_worker_weights_accept(struct msd_peer *channel, int64_t is_filled,
				  uint64_t bytes, struct msd_diag *d)
{
	const int fd = msd_conn_adopt_fd(&channel->conn);

	if (fd < 0 || bytes == 0 || given.is_given || !channel->is_channel ||
	    is_filled < 0 || is_filled > 1) {
		if (fd >= 0)
			(void)close(fd);
		return msd_diag_set(d, MSD_PROTOCOL,
				    "worker.segment: no file of weights, or a second "
				    "one");
	}
	given.is_given = true;
	given.is_filled = is_filled == 1;
	given.fd = fd;
	given.bytes = bytes;
	return MSD_OK;
}

/* This program, and all that decides which nodes a model has and how they are packed.
 * The bytes of the model are the same: the file belongs to one edition. */
static void write_key(struct msd_buf *b, const struct msd_run_options *run,
		      struct msd_span plugins, struct msd_span files)
{
	static const char *const words[] = {"MODSERD_ENGINE", "MODSERD_PASSES"};
	struct stat st = {0};

	(void)stat("/proc/self/exe", &st);
	msd_pack_uint(b, st.st_dev);
	msd_pack_uint(b, st.st_ino);
	msd_pack_uint(b, (uint64_t)st.st_size);
	msd_pack_uint(b, (uint64_t)st.st_mtim.tv_sec);
	msd_pack_uint(b, (uint64_t)st.st_mtim.tv_nsec);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *word = getenv(words[i]);

		msd_pack_cstr(b, word != NULL ? word : "");
	}
	msd_run_options_pack(run, MSD_RUN_WORKER, b);
	msd_buf_put(b, plugins.p, plugins.n);
	msd_buf_put(b, files.p, files.n);
}

void msd_worker_weights_begin(const struct msd_run_options *run,
			      struct msd_span plugins, struct msd_span files)
{
	if (!given.is_given)
		return;
	write_key(&given.key, run, plugins, files);
	if (given.key.bad ||
	    (given.is_filled && !msd_resource_limits_reserve(given.bytes)))
		return;
	msd_weights_begin(&(struct msd_weights_file){
		.fd = given.fd,
		.is_filled = given.is_filled,
		.bytes = given.bytes,
		.key = {given.key.p, given.key.n},
	});
}

uint64_t msd_worker_weights_end(void)
{
	if (!given.is_given)
		return 0;
	const uint64_t bytes = msd_weights_end();

	/* The blocks were data before, so the limit has room for them. */
	if (!given.is_filled && bytes > 0)
		(void)!msd_resource_limits_reserve(bytes);
	(void)close(given.fd);
	given.fd = -1;
	msd_buf_finish(&given.key);
	return bytes;
}
