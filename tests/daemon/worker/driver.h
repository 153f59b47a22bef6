#ifndef TESTS_WORKER_DRIVER_H
#define TESTS_WORKER_DRIVER_H
/* Plays the supervisor: starts a real modserd-worker and speaks frames with it. A step
 * that cannot be done fails the test with what went wrong. */
#include <sys/types.h>

#include "daemon/segments/segmap.h"
#include "daemon/segments/segpool.h"
#include "proto/body.h"
#include "proto/value.h"

struct driver {
	pid_t pid;
	int fd; /* our end of the channel */
	int log_fd;
	uint64_t last_id;
	struct msd_segpool in;
	struct msd_segmap out;
	uint8_t *frame; /* the last response; what `body` points into */
	struct msd_body body;
};

/** Start a worker on the library at @path (NULL: an artifact of junk). */
void driver_start(struct driver *w, const char *path);
/** Send worker.open for module "m" and receive the response. */
void driver_send_open(struct driver *w);
/** Start and open; the reply must be good. */
void driver_open(struct driver *w, const char *path);
/** Close the channel and wait: the exit status, or -signal. */
int driver_end(struct driver *w);
/** Wait until the process has ended by itself; the same result. */
int driver_wait(struct driver *w);
/** What it has printed, NUL-terminated. After its end. */
const char *driver_log(struct driver *w);

/** Requests: begin, append the parameters as one array (and options), send. */
uint64_t driver_begin(struct driver *w, struct msd_buf *b, const char *method,
		      bool has_options);
void driver_send(struct driver *w, struct msd_buf *b);
void driver_send_fd(struct driver *w, struct msd_buf *b, int fd);
/** Read frames until a response has come; its id. */
uint64_t driver_receive(struct driver *w);
/** True when the channel ends before a response has come. */
bool driver_is_lost(struct driver *w);
/** The last response's error: its wire name ("OK" without one), its text. */
const char *driver_error(struct driver *w);
const char *driver_message(struct driver *w);

/** Begin `call` of "m:@function"; @n_args arguments are still to be appended. */
uint64_t driver_call(struct driver *w, struct msd_buf *b, const char *function,
		     size_t n_args);
/** The same without arguments, sent. */
uint64_t driver_call_plain(struct driver *w, const char *function);
/** Append @t with room in an in segment; where to fill it. */
void *driver_put(struct driver *w, struct msd_buf *b, struct msd_wire_tensor *t);
/** The same with a float32 tensor of @n elements. */
float *driver_put_tensor(struct driver *w, struct msd_buf *b, int64_t n);
/** Append an out tensor of @n float32. */
void driver_put_out(struct msd_buf *b, int64_t n);
/** The result's @i-th out tensor; its return value. */
void driver_out(struct driver *w, uint32_t i, struct msd_wire_tensor *ret);
void driver_return(struct driver *w, struct msd_wire_value *ret);
/** The last response, which must be good, as a tensor. */
void driver_tensor(struct driver *w, struct msd_wire_tensor *ret);
/** tensor.fill of the resident @t with an int or a float, and its response. */
void driver_fill(struct driver *w, const struct msd_wire_tensor *t,
		 const struct msd_wire_value *value);
/** Where a tensor of a result is mapped here. */
const void *driver_at(struct driver *w, const struct msd_wire_tensor *t);
/** worker.release of one slot. */
void driver_release(struct driver *w, const struct msd_wire_tensor *t);

#endif
