#ifndef MSD_TESTS_GOLDEN_H
#define MSD_TESTS_GOLDEN_H
/* Bodies that the proto tests share, built with the writers. */
#include "proto/value.h"

struct msd_wire_tensor golden_tensor(enum msd_where where);
/** A call of add:addone with an inline tensor, an out tensor and options. */
struct msd_buf golden_call(void);
/** A call with a value of every kind, nested tuples included. */
struct msd_buf golden_every_kind(void);
struct msd_buf golden_response(void);
struct msd_buf golden_error(void);
struct msd_buf golden_notification(void);

#define GOLDEN_COUNT 5
/** All of the above, by number. The caller finishes what it gets. */
struct msd_buf golden_body(unsigned i);

#endif
