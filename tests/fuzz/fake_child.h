#ifndef MSD_TESTS_FAKE_CHILD_H
#define MSD_TESTS_FAKE_CHILD_H
/*
 * Children without processes: a program that links fake_child.c has these functions in
 * the place of daemon/child's. What the supervisor writes to a child's channel is read
 * and checked here; the requests are kept until something answers them.
 */
#include "daemon/child/child.h"
#include "daemon/loop/list.h"

#define FAKE_MAX_OPEN 64u

struct fake {
	struct msd_child child;
	struct msd_list link; /* fakes */
	unsigned number;      /* counted from the program's start */
	int channel;          /* the child's end; -1: it has none */
	bool is_killed, is_closing;
	uint8_t *coming; /* owned: bytes that are no whole frame yet */
	size_t n_coming;
	uint64_t open[FAKE_MAX_OPEN]; /* ids of requests that it has not answered */
	unsigned n_open;
};

extern struct msd_list fakes; /* fake.link, in the order of their start */
extern bool fake_may_start;   /* false: msd_child_spawn() fails */

/** The @i-th of those that still run, modulo their number; NULL: there is none. */
struct fake *fake_at(unsigned i);
/** Take in what was written to all of them; free those that are over. */
void fakes_settle(void);
/** It ends by itself. */
void fake_exit(struct fake *f);
/** Write a frame of @n bytes of body, and @fd with it when that is not -1. */
void fake_send(struct fake *f, const uint8_t *body, size_t n, int fd);
/** No longer open; its id. @i: which, modulo their number; there must be one. */
uint64_t fake_take(struct fake *f, unsigned i);

#endif
