/*
 * Happy path: a memfd of the size is sealed and mapped. segment.add sends its
 * descriptor and returns its number. Requests then find data in it (shared_segment.h).
 * Failures: it is unmapped, and the result gives the reason; the caller continues
 * with its own memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/client.h"
#include "client/result.h"
#include "client/transport/shared_segment.h"

static int make_memfd(uint64_t bytes)
{
	const int fd = memfd_create("modser", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 &&
	    (ftruncate(fd, (off_t)bytes) != 0 ||
	     fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
		const int error = errno;
		(void)close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static modser_err fail(modser_result **ret, msd_err err, const char *what)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, err, "segment of memory: %s: %s", what, strerror(errno));
	if (*ret == NULL)
		*ret = msd_result_create(0);
	if (*ret != NULL)
		msd_result_fail(*ret, err, msd_diag_text(&d));
	msd_diag_finish(&d);
	return (modser_err)err;
}

/* Give @fd to the daemon; takes ownership of @fd. Returns *@ret_number, or the reason
 * for a failure. */
static modser_err lend(modser_client *c, int fd, uint64_t bytes, uint16_t *ret_number,
		       modser_result **ret)
{
	const modser_value size = modser_int((int64_t)bytes);
	uint64_t id;
	modser_err err = modser_start(c, "segment.add", &size, 1, NULL, &id);

	if (err != MODSER_OK) {
		(void)close(fd);
		*ret = msd_result_create(0);
		if (*ret != NULL)
			msd_result_fail(*ret, (msd_err)err, modser_why(c)->message);
		return err;
	}
	msd_client_find(c, id)->fd = fd; /* not sent yet */
	err = modser_wait(c, id, ret);
	if (err != MODSER_OK)
		return err;
	const modser_value *v = modser_result_value(*ret);
	if (v->kind != MODSER_INT || v->as.i < 1 || v->as.i > UINT16_MAX) {
		msd_result_fail(*ret, MSD_PROTOCOL, "segment.add: a number expected");
		return MODSER_PROTOCOL;
	}
	*ret_number = (uint16_t)v->as.i;
	return MODSER_OK;
}

/* Create the memory and give its descriptor to the daemon. */
static modser_err make(modser_client *c, modser_segment *s, modser_result **ret)
{
	const int fd = s->bytes > 0 && s->bytes <= INT64_MAX ? make_memfd(s->bytes)
							     : (errno = EINVAL, -1);

	if (fd < 0)
		return fail(ret, MSD_NO_SPACE, "memfd");
	void *map = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		const modser_err err = fail(ret, MSD_NO_SPACE, "mmap");
		(void)close(fd);
		return err;
	}
	s->map = map;
	return lend(c, fd, s->bytes, &s->number, ret);
}

modser_err modser_segment_new(modser_client *client, uint64_t bytes,
			      modser_segment **ret, modser_result **ret_why)
{
	modser_segment *s = calloc(1, sizeof(*s));
	modser_result *why = NULL;

	if (s == NULL)
		return MODSER_NOMEM;
	s->bytes = bytes;
	const modser_err err = make(client, s, &why);
	if (err == MODSER_OK) {
		s->client = client;
		s->next = client->segments;
		client->segments = s;
		*ret = s;
	} else {
		if (s->map != NULL)
			(void)munmap(s->map, s->bytes);
		free(s);
	}
	if (err != MODSER_OK && ret_why != NULL) {
		*ret_why = why;
	} else {
		modser_result_free(why);
	}
	return err;
}

void *modser_segment_data(const modser_segment *segment)
{
	return segment->map;
}

/*
 * The answer is of no use: the daemon also withdraws the segment with the connection.
 */
static void forget_answer(void *ctx, modser_result *result)
{
	(void)ctx;
	modser_result_free(result);
}

void modser_segment_free(modser_segment *segment)
{
	const modser_options options = {.done = forget_answer};

	if (segment == NULL)
		return;
	modser_client *c = segment->client;
	if (c != NULL) {
		const modser_value number = modser_int(segment->number);
		modser_segment **at = &c->segments;

		while (*at != segment)
			at = &(*at)->next;
		*at = segment->next;
		if (modser_start(c, "segment.remove", &number, 1, &options, NULL) ==
		    MODSER_OK)
			(void)modser_process(c);
	}
	(void)munmap(segment->map, segment->bytes);
	free(segment);
}
