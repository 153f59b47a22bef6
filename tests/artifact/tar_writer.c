#include "tests/artifact/tar_writer.h"

#include <stdio.h>
#include <string.h>

#define BLOCK 512u

static const uint8_t zeros[2 * BLOCK];

void tar_put_sized(struct bw *w, const char *path, char type, const void *data,
		   size_t n, unsigned long long size)
{
	char h[BLOCK] = {0};
	unsigned sum = 0;

	(void)snprintf(h, 100, "%s", path);
	(void)memcpy(h + 100, "0000644", 7);
	(void)memcpy(h + 108, "0000000", 7);
	(void)memcpy(h + 116, "0000000", 7);
	(void)snprintf(h + 124, 12, "%011llo", size);
	(void)memcpy(h + 136, "00000000000", 11);
	(void)memset(h + 148, ' ', 8);
	h[156] = type;
	if (type == '1' || type == '2')
		(void)memcpy(h + 157, "metadata.json", 13);
	(void)memcpy(h + 257, "ustar\00000", 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)h[i];
	(void)snprintf(h + 148, 8, "%06o", sum);
	bw_raw(w, h, BLOCK);
	bw_raw(w, data, n);
	bw_raw(w, zeros, (BLOCK - n % BLOCK) % BLOCK);
}

void tar_put(struct bw *w, const char *path, char type, const void *data, size_t n)
{
	tar_put_sized(w, path, type, data, n, n);
}

void tar_put_text(struct bw *w, const char *path, const char *text)
{
	tar_put(w, path, '0', text, strlen(text));
}

void tar_end(struct bw *w)
{
	bw_raw(w, zeros, sizeof(zeros));
}
