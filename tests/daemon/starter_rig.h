#ifndef MSD_TESTS_STARTER_RIG_H
#define MSD_TESTS_STARTER_RIG_H
/* A starter with its loop, and what it tells. */
#include "daemon/child/starter.h"

extern struct msd_starter starter;
extern uv_loop_t loop;

/* What was told of a start. */
struct told {
	unsigned n;
	pid_t pid;
	int error;
};

void open_starter(void);
void close_starter(void);
/** For msd_starter_begin(), with a struct told. */
void on_begun(void *told, pid_t pid, int error);
/** Let the loop run until it was told, once. */
void wait_for(const struct told *told);

#endif
