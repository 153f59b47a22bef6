#include "daemon/supervisor/module/workers/shared_weights.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/module/workers/segment_pass.h"

#define NAME "modserd-weights" /* in /proc */
/* 16-bit floats become four times as many of 32 bits for a convolution of 3 x 3, with
 * channels rounded up. */
#define MOST_TIMES 8u
#define MOST_MORE (UINT64_C(1) << 20)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

void msd_shared_weights_finish(struct msd_shared_weights *s)
{
	if (s->has_file)
		(void)close(s->fd);
	*s = (struct msd_shared_weights){.is_off = s->is_off};
}

static uint64_t most_bytes(const struct msd_worker_group *group)
{
	const uint64_t most = group->registry->limits->max_worker_memory;
	const uint64_t model = group->source.bytes;
	const uint64_t wanted = model < (UINT64_C(1) << 40)
					? model * MOST_TIMES + MOST_MORE
					: model;

	return most > 0 && most < wanted ? most : wanted;
}

/* The worker cannot make the file larger. Pages are allocated when they are written. */
static bool create(struct msd_worker_group *group)
{
	struct msd_shared_weights *s = &group->weights;
	const uint64_t bytes = most_bytes(group);
	const int fd = memfd_create(NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return false;
	if (ftruncate(fd, (off_t)bytes) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) != 0) {
		(void)close(fd);
		return false;
	}
	s->has_file = true;
	s->fd = fd;
	s->bytes = bytes;
	return true;
}

void msd_shared_weights_pass(struct msd_replica *rep)
{
	struct msd_worker_group *group = rep->group;
	struct msd_shared_weights *s = &group->weights;

	if (s->filler != NULL || s->is_off || group->n_replicas < 2)
		return;
	const bool is_filled = s->has_file;
	if (!is_filled && !create(group))
		return;
	const msd_err err = msd_segment_pass_segment(rep->process, "weights", is_filled,
						     s->fd, s->bytes);
	if (is_filled)
		return; /* after an error it packs its own */
	if (err == MSD_OK) {
		s->filler = rep;
	} else {
		msd_shared_weights_finish(s);
	}
}

void msd_shared_weights_opened(struct msd_replica *rep)
{
	struct msd_shared_weights *s = &rep->group->weights;
	struct stat st;

	if (s->filler != rep)
		return;
	s->filler = NULL;
	const int seals = fcntl(s->fd, F_GET_SEALS);
	if (seals >= 0 && (seals & SEALS) == SEALS && fstat(s->fd, &st) == 0 &&
	    st.st_size > 0) {
		s->bytes = (uint64_t)st.st_size;
		return;
	}
	s->is_off = true;
	msd_shared_weights_finish(s);
}

void msd_shared_weights_lost(struct msd_replica *rep)
{
	if (rep->group->weights.filler == rep)
		msd_shared_weights_finish(&rep->group->weights);
}
