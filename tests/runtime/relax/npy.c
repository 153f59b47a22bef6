#include "tests/runtime/relax/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/value/value.h"

struct msd_buf file_read(const char *path)
{
	struct msd_buf b = {0};
	FILE *f = fopen(path, "rb");
	size_t n;

	if (f == NULL)
		return b;
	while (msd_buf_reserve(&b, 65536) && (n = fread(b.p + b.n, 1, 65536, f)) > 0)
		b.n += n;
	(void)fclose(f);
	return b;
}

static bool dtype_of_descr(const char *descr, struct msd_dtype *ret)
{
	static const char codes[] = {'i', 'u', 'f', 'b'};
	static const uint8_t dl[] = {MSD_DT_INT, MSD_DT_UINT, MSD_DT_FLOAT,
				     MSD_DT_BOOL};
	const char *kind = memchr(codes, descr[1], sizeof(codes));

	if (kind == NULL || descr[0] == '>')
		return false;
	*ret = (struct msd_dtype){dl[kind - codes], (uint8_t)(8 * atoi(descr + 2)), 1};
	return true;
}

static size_t shape_of_header(const char *at, int64_t *dim)
{
	size_t n = 0;

	at = strchr(at, '(') + 1;
	while (*at != ')' && n < MSD_MAX_NDIM) {
		char *end;

		dim[n++] = strtoll(at, &end, 10);
		at = end + strspn(end, ", ");
	}
	return n;
}

struct msd_tensor *npy_read(struct msd_span file)
{
	int64_t dim[MSD_MAX_NDIM];
	struct msd_dtype dtype;
	struct msd_tensor *t = NULL;

	if (file.n < 10 || memcmp(file.p, "\x93NUMPY\x01", 7) != 0)
		return NULL;
	size_t head = 10 + (size_t)msd_le16(file.p + 8);
	if (head > file.n)
		return NULL;
	char *text = strndup((const char *)file.p + 10, head - 10);
	const char *descr = strstr(text, "'descr': '");
	const char *shape = strstr(text, "'shape': (");
	if (descr != NULL && shape != NULL && strstr(text, "'fortran_order': False") &&
	    dtype_of_descr(descr + 10, &dtype))
		t = msd_tensor_new(dtype, dim, shape_of_header(shape, dim));
	if (t != NULL && msd_dltensor_bytes(&t->dl) <= file.n - head)
		memcpy(t->dl.data, file.p + head, msd_dltensor_bytes(&t->dl));
	free(text);
	return t;
}

/* numpy writes 64-bit sizes in the extra field (id 1) of every member. */
struct msd_span npz_find(struct msd_span file, const char *name)
{
	size_t at = 0;

	while (file.n - at >= 30 && msd_le32(file.p + at) == 0x04034b50) {
		const uint8_t *h = file.p + at;
		size_t n_name = msd_le16(h + 26);
		size_t n_extra = msd_le16(h + 28);
		uint64_t bytes = msd_le32(h + 18);

		if (bytes == UINT32_MAX && n_extra >= 20)
			bytes = msd_le64(h + 30 + n_name + 4);
		if (n_name == strlen(name) + 4 && memcmp(h + 30, name, n_name - 4) == 0)
			return (struct msd_span){h + 30 + n_name + n_extra, bytes};
		at += 30 + n_name + n_extra + bytes;
	}
	return (struct msd_span){NULL, 0};
}

bool npy_write(const char *path, const struct msd_dltensor *t)
{
	static const char codes[] = "iuf??  b";
	char shape[512] = "";
	char head[640];
	size_t n = 0;
	FILE *f = fopen(path, "wb");

	if (f == NULL)
		return false;
	for (int32_t i = 0; i < t->ndim; i++) {
		n += (size_t)snprintf(shape + n, sizeof(shape) - n, "%" PRId64 ",",
				      t->shape[i]);
	}
	bool is_bool = t->dtype.code == MSD_DT_BOOL;
	int len = snprintf(
		head, sizeof(head),
		"{'descr': '%c%c%d', 'fortran_order': False, 'shape': (%s)}\n",
		t->dtype.bits > 8 ? '<' : '|', is_bool ? 'b' : codes[t->dtype.code & 7],
		t->dtype.bits / 8, shape);
	bool is_ok = fwrite("\x93NUMPY\x01\0", 1, 8, f) == 8 &&
		     fwrite(&(uint16_t){(uint16_t)len}, 1, 2, f) == 2 &&
		     fwrite(head, 1, (size_t)len, f) == (size_t)len &&
		     fwrite((char *)t->data + t->byte_offset, 1, msd_dltensor_bytes(t),
			    f) == msd_dltensor_bytes(t);
	return fclose(f) == 0 && is_ok;
}
