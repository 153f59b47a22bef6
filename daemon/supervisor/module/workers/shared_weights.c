#include "daemon/supervisor/module/workers/shared_weights.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

static uint64_t room_for(uint64_t model_bytes, uint64_t most_bytes)
{
	const uint64_t wanted = model_bytes < (UINT64_C(1) << 40)
					? model_bytes * MOST_TIMES + MOST_MORE
					: model_bytes;

	return most_bytes > 0 && most_bytes < wanted ? most_bytes : wanted;
}

/* The worker cannot make the file larger. Pages are allocated when they are written. */
static bool create(struct msd_shared_weights *s, uint64_t bytes)
{
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

void msd_shared_weights_pass(struct msd_shared_weights *s, struct msd_process *p,
			     uint64_t model_bytes, uint64_t most_bytes)
{
	const bool is_filled = s->has_file;

	if (s->filler != NULL || s->is_off ||
	    (!is_filled && !create(s, room_for(model_bytes, most_bytes))))
		return;
	const msd_err err =
		msd_segment_pass_segment(p, "weights", is_filled, s->fd, s->bytes);
	if (is_filled)
		return; /* after an error it packs its own */
	if (err == MSD_OK) {
		s->filler = p;
	} else {
		msd_shared_weights_finish(s);
	}
}

void msd_shared_weights_opened(struct msd_shared_weights *s,
			       const struct msd_process *p)
{
	struct stat st;

	if (s->filler == NULL || s->filler != p)
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

void msd_shared_weights_lost(struct msd_shared_weights *s, const struct msd_process *p)
{
	if (s->filler != NULL && s->filler == p)
		msd_shared_weights_finish(s);
}
