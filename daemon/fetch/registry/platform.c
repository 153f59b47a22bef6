/*
 * Happy path: compare architectures by GOARCH names, devices by type, and
 * capabilities by the number in them. Failures: a capability without a number matches
 * only an equal string.
 */
#include "daemon/fetch/registry/platform.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

const char *msd_platform_arch(void)
{
	static const char *const rows[][2] = {
		{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"armv7l", "arm"}};
	static struct utsname u;

	(void)uname(&u);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(u.machine, rows[i][0]) == 0)
			return rows[i][1];
	}
	return u.machine;
}

/* "sm_90", "9.0" and "CUDA 9.0" give 90, "OpenCL 3.0 vendor" gives 30. *ret_letter is
 * the letter of "sm_90a", or 0. */
static unsigned long capability_number(const char *text, char *ret_letter)
{
	const char *at = text + strcspn(text, "0123456789");
	char *end;
	unsigned long number = strtoul(at, &end, 10);

	if (end != at && end[0] == '.' && isdigit((unsigned char)end[1])) {
		number = number * 10 + (unsigned long)(end[1] - '0');
		end += 2;
	}
	*ret_letter = isalpha((unsigned char)*end) ? *end : '\0';
	return number;
}

static bool is_capable(const char *is, const char *wanted)
{
	char letter, of_is;
	const unsigned long least = capability_number(wanted, &letter);
	const unsigned long has = capability_number(is, &of_is);

	if (wanted[0] == '\0' || strcmp(is, wanted) == 0)
		return true;
	if (least == 0)
		return false;
	return letter != '\0' ? has == least : has >= least;
}

static bool needs_device(const struct msd_platform *p)
{
	return p->device[0] != '\0' && strcmp(p->device, "cpu") != 0;
}

enum msd_platform_fit msd_platform_fit(const struct msd_platform_machine *m,
				       const struct msd_platform *p)
{
	if (strcmp(p->arch, m->arch) != 0 && strcmp(p->arch, "any") != 0)
		return MSD_PLATFORM_OTHER;
	if (!needs_device(p))
		return MSD_PLATFORM_SUITS;
	if (!m->is_known)
		return MSD_PLATFORM_UNKNOWN;
	for (unsigned i = 0; i < m->n_devices; i++) {
		if (strcmp(m->devices[i].type, p->device) == 0 &&
		    is_capable(m->devices[i].capability, p->capability))
			return MSD_PLATFORM_SUITS;
	}
	return MSD_PLATFORM_OTHER;
}

bool msd_platform_is_better(const struct msd_platform *a, const struct msd_platform *b)
{
	char of_a, of_b;

	if (needs_device(a) != needs_device(b))
		return needs_device(a);
	if (!needs_device(a) || strcmp(a->device, b->device) != 0)
		return false;
	const unsigned long more = capability_number(a->capability, &of_a);
	const unsigned long less = capability_number(b->capability, &of_b);
	return more > less || (more == less && of_a > of_b);
}

/* "cuda:0" has the type "cuda". */
static msd_err read_device(const msgpack_object *row, struct msd_platform_machine *m,
			   struct msd_diag *d)
{
	struct msd_platform_device *to = &m->devices[m->n_devices];
	struct msd_span name = {0}, capability = {0};
	msd_err err = msd_map_str(row, "device", &name, d);

	if (err == MSD_OK)
		err = msd_map_str(row, "capability", &capability, d);
	if (err != MSD_OK)
		return err;
	(void)snprintf(to->type, sizeof(to->type), "%.*s", (int)name.n,
		       name.n > 0 ? (const char *)name.p : "");
	to->type[strcspn(to->type, ":")] = '\0';
	(void)snprintf(to->capability, sizeof(to->capability), "%.*s",
		       (int)capability.n,
		       capability.n > 0 ? (const char *)capability.p : "");
	m->n_devices++;
	return MSD_OK;
}

msd_err msd_platform_read(struct msd_unpack *unpack, struct msd_span result,
			  struct msd_platform_machine *m, struct msd_diag *d)
{
	const msgpack_object *map, *list;
	msd_err err = msd_unpack(unpack, result, &map, d);

	if (err != MSD_OK)
		return err;
	list = msd_map_find(map, "devices");
	if (list == NULL || list->type != MSGPACK_OBJECT_ARRAY)
		return msd_diag_set(d, MSD_BAD_REQUEST, "fetch.devices: no devices");
	m->n_devices = 0;
	for (uint32_t i = 0; err == MSD_OK && i < list->via.array.size &&
			     m->n_devices < MSD_PLATFORM_DEVICES;
	     i++)
		err = read_device(&list->via.array.ptr[i], m, d);
	m->is_known = err == MSD_OK;
	return err;
}

static void name_machine(const struct msd_platform_machine *m, struct msd_buf *ret)
{
	msd_buf_printf(ret, "%s", m->arch);
	for (unsigned i = 0; i < m->n_devices; i++) {
		msd_buf_printf(ret, ", %s%s%s", m->devices[i].type,
			       m->devices[i].capability[0] != '\0' ? " " : "",
			       m->devices[i].capability);
	}
	msd_buf_put_u8(ret, 0);
}

msd_err msd_platform_refuse(const struct msd_platform_machine *m, const char *why,
			    struct msd_diag *d)
{
	struct msd_buf is = {0};
	msd_err err;

	name_machine(m, &is);
	err = is.bad ? msd_diag_no_memory(d)
		     : msd_diag_set(d, MSD_UNSUPPORTED, "%s, %s", why,
				    (const char *)is.p);
	msd_buf_finish(&is);
	return err;
}
