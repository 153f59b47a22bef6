#ifndef MSD_BENCH_REQUEST_H
#define MSD_BENCH_REQUEST_H
/* Whole frames, built once before the measurement. The caller owns them
 * (msd_buf_finish()); short memory terminates the program. */
#include "proto/base/bytes.h"

struct msd_buf bench_request_ping(void);
/** Call @target ("module:function") without arguments. */
struct msd_buf bench_request_call(const char *target);
/**
 * Call @target with one uint8 tensor of @bytes: inline, with its payload to follow,
 * if @is_out is false, else for the callee to fill.
 */
struct msd_buf bench_request_tensor(const char *target, uint64_t bytes, bool is_out);
/**
 * Call number @i of a client that never repeats a call: of "trivial:echo" with another
 * number each time, or, with @has_tensor, of trivial:take0 to take15 in turns with a
 * tensor of another shape, whose payload is included.
 */
struct msd_buf bench_request_differing(uint64_t i, bool has_tensor);
/** Append the payload of such a call: @bytes zeros. */
void bench_request_fill(struct msd_buf *frame, uint64_t bytes);
/** A request of bench_sink: @in bytes of payload follow, the reply has @out bytes. */
struct msd_buf bench_request_sink(uint64_t in, uint64_t out);

#endif
