#include "daemon/segments/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop/closer.h"

#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)
#define SEAL_TRIES 50
#define SEAL_AGAIN_NS 2000000 /* 2 ms */

int msd_reserve_now(const char *name, uint64_t bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)bytes) != 0 ||
	    fallocate(fd, 0, 0, (off_t)bytes) != 0) {
		const int error = errno;
		(void)close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

int msd_reserve_seal(int fd)
{
	const struct timespec moment = {.tv_nsec = SEAL_AGAIN_NS};
	int failed = EBUSY;

	for (int i = 0; failed == EBUSY && i < SEAL_TRIES; i++) {
		if (i > 0)
			(void)nanosleep(&moment, NULL);
		failed = fcntl(fd, F_ADD_SEALS, SEALS) == 0 ? 0 : errno;
	}
	return failed;
}

static struct msd_reserve *reserve_of(struct msd_work *work)
{
	return MSD_CONTAINER_OF(work, struct msd_reserve, work);
}

static void on_work(struct msd_work *work)
{
	struct msd_reserve *r = reserve_of(work);

	r->fd = msd_reserve_now(r->name, r->bytes);
	r->error = r->fd < 0 ? errno : 0;
}

static void drop(struct msd_work *work)
{
	struct msd_reserve *r = reserve_of(work);

	msd_closer_close_own(r->fd);
	free(r);
}

static void on_worked(struct msd_work *work)
{
	struct msd_reserve *r = reserve_of(work);

	r->on_done(r);
	drop(work);
}

struct msd_reserve *msd_reserve_begin(uv_loop_t *loop,
				      const struct msd_reserve_how *how,
				      void (*on_done)(struct msd_reserve *r),
				      void *user)
{
	struct msd_reserve *r = malloc(sizeof(*r));

	if (r == NULL)
		return NULL;
	*r = (struct msd_reserve){.fd = -1,
				  .bytes = how->bytes,
				  .user = user,
				  .on_done = on_done,
				  .name = how->name,
				  .work = {.run = on_work,
					   .done = on_worked,
					   .lane = how->lane,
					   .owner = how->owner}};
	msd_work_begin(loop, &r->work);
	return r;
}

void msd_reserve_leave(struct msd_reserve *r)
{
	if (r != NULL)
		msd_work_leave(&r->work, drop);
}
