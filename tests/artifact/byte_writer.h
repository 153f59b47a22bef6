#ifndef MSD_TESTS_BYTE_WRITER_H
#define MSD_TESTS_BYTE_WRITER_H
/*
 * Bytes for tests, written without any code of the project: a mistake in proto/bytes
 * cannot hide in both. Little-endian. Out of memory aborts.
 */
#include <stddef.h>
#include <stdint.h>

#include "proto/base/bytes.h" /* struct msd_span alone */

struct bw {
	uint8_t *p; /* owned */
	size_t n;
	size_t cap;
};

void bw_raw(struct bw *b, const void *p, size_t n);
void bw_u8(struct bw *b, uint8_t v);
void bw_u16(struct bw *b, uint16_t v);
void bw_u32(struct bw *b, uint32_t v);
void bw_u64(struct bw *b, uint64_t v);
void bw_f64(struct bw *b, double v);
/** u64 length, bytes */
void bw_str(struct bw *b, const char *text);
/** u64 length, the bytes of @inner */
void bw_str_of(struct bw *b, const struct bw *inner);
/** u64 count, strings; @names ends with NULL. */
void bw_strs(struct bw *b, const char *const *names);
/** u64 count, elements */
void bw_u64s(struct bw *b, const uint64_t *v, size_t n);
/** A tensor of the host as TVM saves it: of type @code and @bits, @data of @bytes. */
void bw_tensor(struct bw *b, uint8_t code, uint8_t bits, const uint64_t *shape,
	       uint32_t ndim, const void *data, size_t bytes);
void bw_free(struct bw *b);
struct msd_span bw_span(const struct bw *b);

#endif
