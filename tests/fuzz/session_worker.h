#ifndef MSD_TESTS_SESSION_WORKER_H
#define MSD_TESTS_SESSION_WORKER_H
/* What a worker does to its supervisor: answers, lies, announces memory, dies. */
#include <stdint.h>

#include "proto/base/bytes.h"
#include "tests/fuzz/fake_child.h"

/** One thing of @op and @byte by @f, with as much of @input as it needs. */
void session_worker_does(struct fake *f, uint8_t op, uint8_t byte,
			 struct msd_cur *input);

#endif
