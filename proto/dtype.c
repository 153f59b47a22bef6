/* Convert element types between code, bits and lanes, and names. */
#include "proto/dtype.h"

#include <stdio.h>
#include <string.h>

/* Types with one name each. If two rows have the same type, the first is the name to
 * write. */
static const struct {
	const char *name;
	struct msd_dtype type;
} named[] = {
	{"bool", {MSD_DT_BOOL, 8, 1}},
	{"bfloat16", {MSD_DT_BFLOAT, 16, 1}},
	{"handle", {MSD_DT_HANDLE, 64, 1}},
	{"complex64", {MSD_DT_COMPLEX, 64, 1}},
	{"complex128", {MSD_DT_COMPLEX, 128, 1}},
	{"float8_e3m4", {MSD_DT_F8_E3M4, 8, 1}},
	{"float8_e4m3", {MSD_DT_F8_E4M3, 8, 1}},
	{"float8_e4m3b11fnuz", {MSD_DT_F8_E4M3B11FNUZ, 8, 1}},
	{"float8_e4m3fn", {MSD_DT_F8_E4M3FN, 8, 1}},
	{"float8_e4m3fnuz", {MSD_DT_F8_E4M3FNUZ, 8, 1}},
	{"float8_e5m2", {MSD_DT_F8_E5M2, 8, 1}},
	{"float8_e5m2fnuz", {MSD_DT_F8_E5M2FNUZ, 8, 1}},
	{"float8_e8m0fnu", {MSD_DT_F8_E8M0FNU, 8, 1}},
	{"float6_e2m3fn", {MSD_DT_F6_E2M3FN, 6, 1}},
	{"float6_e3m2fn", {MSD_DT_F6_E3M2FN, 6, 1}},
	{"float4_e2m1fn", {MSD_DT_F4_E2M1FN, 4, 1}},
	{"e4m3_float8", {MSD_DT_F8_E4M3FN, 8, 1}}, /* TVM 0.16 - 0.19 */
	{"e5m2_float8", {MSD_DT_F8_E5M2, 8, 1}},
};
#define N_NAMED (sizeof(named) / sizeof(named[0]))

/* Types named by their width. */
static const struct {
	const char *stem;
	enum msd_dtype_code code;
} stems[] = {
	{"int", MSD_DT_INT},
	{"uint", MSD_DT_UINT},
	{"float", MSD_DT_FLOAT},
};
#define N_STEMS (sizeof(stems) / sizeof(stems[0]))

static const struct {
	const char *name;
	enum msd_device_type type;
} devices[] = {
	{"cpu", MSD_DEV_CPU},
	{"cuda", MSD_DEV_CUDA},
	{"cuda_host", MSD_DEV_CUDA_HOST},
	{"opencl", MSD_DEV_OPENCL},
	{"vulkan", MSD_DEV_VULKAN},
	{"metal", MSD_DEV_METAL},
	{"rocm", MSD_DEV_ROCM},
};
#define N_DEVICES (sizeof(devices) / sizeof(devices[0]))

bool msd_dtype_eq(struct msd_dtype a, struct msd_dtype b)
{
	return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

bool msd_dtype_is_bool(struct msd_dtype t)
{
	return t.lanes == 1 && ((t.code == MSD_DT_BOOL && t.bits == 8) ||
				(t.code == MSD_DT_UINT && t.bits == 1));
}

bool msd_dtype_bytes(struct msd_dtype t, uint64_t n, uint64_t *ret_bytes)
{
	uint64_t bits = (uint64_t)t.bits * t.lanes;

	if (t.code == MSD_DT_UINT && t.bits == 1)
		bits = 8ull * t.lanes; /* TVM's older bool: one byte each */
	if (bits % 8 == 0) {
		if (__builtin_mul_overflow(n, bits / 8, &bits))
			return false;
	} else {
		uint64_t rest = n % 8 * bits; /* bits of the elements after the last
						 multiple of eight */

		if (__builtin_mul_overflow(n / 8, bits, &bits) ||
		    __builtin_add_overflow(bits, (rest + 7) / 8, &bits))
			return false;
	}
	*ret_bytes = bits;
	return true;
}

bool msd_shape_elements(const int64_t *shape, size_t ndim, uint64_t *ret_n)
{
	uint64_t n = 1;

	for (size_t i = 0; i < ndim; i++) {
		if (shape[i] < 0)
			return false;
		if (__builtin_mul_overflow(n, (uint64_t)shape[i], &n))
			return false;
	}
	*ret_n = n;
	return true;
}

static const char *one_lane_name(struct msd_dtype t,
				 char buf[static MSD_DTYPE_NAME_MAX])
{
	t.lanes = 1;
	for (size_t i = 0; i < N_NAMED; i++) {
		if (msd_dtype_eq(named[i].type, t))
			return named[i].name;
	}
	if (t.code == MSD_DT_UINT && t.bits == 1)
		return "bool";
	for (size_t i = 0; i < N_STEMS; i++) {
		if (stems[i].code != t.code || t.bits == 0)
			continue;
		(void)snprintf(buf, MSD_DTYPE_NAME_MAX, "%s%u", stems[i].stem, t.bits);
		return buf;
	}
	return NULL;
}

const char *msd_dtype_format(struct msd_dtype t, char buf[static MSD_DTYPE_NAME_MAX])
{
	char stem[MSD_DTYPE_NAME_MAX];
	const char *name = t.lanes > 0 ? one_lane_name(t, stem) : NULL;

	if (name == NULL) {
		(void)snprintf(buf, MSD_DTYPE_NAME_MAX, "type<%u,%u,%u>", t.code,
			       t.bits, t.lanes);
	} else if (t.lanes == 1) {
		(void)snprintf(buf, MSD_DTYPE_NAME_MAX, "%.30s", name);
	} else {
		(void)snprintf(buf, MSD_DTYPE_NAME_MAX, "%.30sx%u", name, t.lanes);
	}
	return buf;
}

/* Decimal digits without sign or leading zero, at most @max; 0 if @p is anything
 * else. */
static uint32_t parse_count(const char *p, size_t len, uint32_t max)
{
	uint32_t v = 0;

	if (len == 0 || len > 5 || p[0] == '0')
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (p[i] < '0' || p[i] > '9')
			return 0;
		v = v * 10 + (uint32_t)(p[i] - '0');
	}
	return v <= max ? v : 0;
}

static bool parse_one_lane(const char *name, size_t len, struct msd_dtype *ret)
{
	for (size_t i = 0; i < N_NAMED; i++) {
		if (strlen(named[i].name) == len &&
		    memcmp(named[i].name, name, len) == 0) {
			*ret = named[i].type;
			return true;
		}
	}
	for (size_t i = 0; i < N_STEMS; i++) {
		size_t n = strlen(stems[i].stem);

		if (len <= n || memcmp(stems[i].stem, name, n) != 0)
			continue;
		uint32_t bits = parse_count(name + n, len - n, 64);
		bool is_whole = bits >= 8 && (bits & (bits - 1)) == 0;
		if (bits == 0 || (stems[i].code == MSD_DT_FLOAT && !is_whole))
			return false; /* narrow ints exist, but float33 is an error */
		*ret = (struct msd_dtype){.code = (uint8_t)stems[i].code,
					  .bits = (uint8_t)bits,
					  .lanes = 1};
		return true;
	}
	return false;
}

bool msd_dtype_parse(const char *name, size_t len, struct msd_dtype *ret)
{
	const char *x = len > 0 ? memrchr(name, 'x', len) : NULL;
	struct msd_dtype t;

	if (parse_one_lane(name, len, ret)) /* "complex64" contains an x */
		return true;
	if (x == NULL || !parse_one_lane(name, (size_t)(x - name), &t))
		return false;
	t.lanes =
		(uint16_t)parse_count(x + 1, len - (size_t)(x - name) - 1, UINT16_MAX);
	if (t.lanes == 0)
		return false;
	*ret = t;
	return true;
}

const char *msd_device_type_format(int32_t type, char buf[static MSD_DTYPE_NAME_MAX])
{
	for (size_t i = 0; i < N_DEVICES; i++) {
		if ((int32_t)devices[i].type == type) {
			(void)snprintf(buf, MSD_DTYPE_NAME_MAX, "%s", devices[i].name);
			return buf;
		}
	}
	(void)snprintf(buf, MSD_DTYPE_NAME_MAX, "device<%d>", type);
	return buf;
}

bool msd_device_parse(const char *name, size_t len, struct msd_device *ret)
{
	const char *colon = len > 0 ? memchr(name, ':', len) : NULL;
	size_t n = colon != NULL ? (size_t)(colon - name) : len;
	uint32_t id = 0;

	if (colon != NULL) {
		size_t digits = len - n - 1;

		id = parse_count(colon + 1, digits, 99999);
		if (id == 0 && !(digits == 1 && colon[1] == '0'))
			return false;
	}
	for (size_t i = 0; i < N_DEVICES; i++) {
		if (strlen(devices[i].name) != n ||
		    memcmp(devices[i].name, name, n) != 0)
			continue;
		*ret = (struct msd_device){.type = (int32_t)devices[i].type,
					   .id = (int32_t)id};
		return true;
	}
	return false;
}
