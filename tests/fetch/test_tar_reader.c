#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/fetch/layer/layer_look.h"
#include "daemon/fetch/layer/tar_reader.h"

#define BLOCK 512u

static const uint8_t onnx[] = {8, 8, 0x12, 1, 'x', 0x3a, 0};

/* Add an entry with a header of POSIX. */
static void add(struct msd_buf *b, const char *path, char type, struct msd_span data)
{
	uint8_t h[BLOCK] = {0};
	static const uint8_t zero[BLOCK];
	unsigned sum = 0;

	(void)snprintf((char *)h, 100, "%s", path);
	(void)snprintf((char *)h + 124, 12, "%011zo", data.n);
	memset(h + 148, ' ', 8);
	h[156] = (uint8_t)type;
	memcpy(h + 257,
	       "ustar\0"
	       "00",
	       8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += h[i];
	(void)snprintf((char *)h + 148, 8, "%06o", sum);
	msd_buf_put(b, h, BLOCK);
	msd_buf_put(b, data.p, data.n);
	msd_buf_put(b, zero, (BLOCK - data.n % BLOCK) % BLOCK);
}

static int file_of(const uint8_t *p, size_t n)
{
	const int fd = memfd_create("test", MFD_CLOEXEC);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, p, n), (ssize_t)n);
	return fd;
}

/* Read all of the first @n bytes; the number of files. */
static msd_err walk(const uint8_t *p, size_t n, unsigned *ret_files)
{
	static struct msd_tar_reader t;
	const int fd = file_of(p, n);
	msd_err err = msd_tar_open(&t, fd, n, NULL);
	bool more = true;

	*ret_files = 0;
	while (err == MSD_OK && (err = msd_tar_next(&t, &more, NULL)) == MSD_OK &&
	       more) {
		uint8_t bytes[100];
		size_t got = 1;

		while (err == MSD_OK && got > 0)
			err = msd_tar_read(&t, bytes, sizeof(bytes), &got, NULL);
		*ret_files += err == MSD_OK;
	}
	msd_tar_close(&t);
	(void)close(fd);
	return err;
}

Test(tar_reader, reads_files_alone)
{
	struct msd_buf b = {0};
	unsigned n;

	add(&b, "a", '0', (struct msd_span){onnx, sizeof(onnx)});
	add(&b, "/b", '0', (struct msd_span){onnx, sizeof(onnx)});
	add(&b, "x/../b", '0', (struct msd_span){onnx, sizeof(onnx)});
	add(&b, "c", '2', (struct msd_span){NULL, 0});
	add(&b, "d/", '5', (struct msd_span){NULL, 0});
	add(&b, "long", 'L', msd_span_of("e/f"));
	add(&b, "short", '0', (struct msd_span){onnx, sizeof(onnx)});
	add(&b, "p", 'x', msd_span_of("12 path=g/h\n"));
	add(&b, "short", '0', (struct msd_span){onnx, sizeof(onnx)});
	cr_assert_eq(walk(b.p, b.n, &n), MSD_OK);
	cr_assert_eq(n, 3);
	msd_buf_finish(&b);
}

Test(tar_reader, no_prefix_is_read_past_its_end)
{
	struct msd_buf b = {0};
	unsigned n;

	add(&b, "p", 'x', msd_span_of("12 path=g/h\n"));
	add(&b, "a", '0', (struct msd_span){onnx, sizeof(onnx)});
	for (size_t i = 0; i < b.n; i++) {
		const msd_err err = walk(b.p, i, &n);

		cr_assert_eq(n, i >= 3 * BLOCK + sizeof(onnx) ? 1 : 0, "%zu", i);
		cr_assert(i == 0 || err == MSD_BAD_ARTIFACT || i % BLOCK == 0 || n == 1,
			  "%zu", i);
	}
	msd_buf_finish(&b);
}

Test(tar_reader, no_changed_byte_breaks_it)
{
	struct msd_buf b = {0};
	unsigned n;

	add(&b, "p", 'x', msd_span_of("12 path=g/h\n"));
	add(&b, "a", '0', (struct msd_span){onnx, sizeof(onnx)});
	for (size_t i = 0; i < 2 * BLOCK; i++) {
		b.p[i] ^= 0x35;
		(void)walk(b.p, b.n, &n);
		cr_assert(i >= 148 || n == 0, "%zu: a header with a wrong sum", i);
		b.p[i] ^= 0x35;
	}
	msd_buf_finish(&b);
}

Test(layer_look, wants_a_path_or_its_last_parts)
{
	cr_assert(msd_layer_is_wanted("a/b.onnx", "a/b.onnx"));
	cr_assert(msd_layer_is_wanted("a/b.onnx", "b.onnx"));
	cr_assert_not(msd_layer_is_wanted("a/b.onnx", "onnx"));
	cr_assert_not(msd_layer_is_wanted("b.onnx", "a/b.onnx"));
	cr_assert_not(msd_layer_is_wanted("b.onnx", ""));
}
