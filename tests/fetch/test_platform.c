#include <criterion/criterion.h>
#include <stdio.h>

#include "daemon/fetch/registry/platform.h"
#include "proto/value.h"

static struct msd_platform_machine machine = {.arch = "amd64", .is_known = true};

static void add(const char *type, const char *capability)
{
	struct msd_platform_device *to = &machine.devices[machine.n_devices++];

	(void)snprintf(to->type, sizeof(to->type), "%s", type);
	(void)snprintf(to->capability, sizeof(to->capability), "%s", capability);
}

static enum msd_platform_fit fit(const char *device, const char *capability)
{
	const struct msd_platform p = {"amd64", device, capability};

	return msd_platform_fit(&machine, &p);
}

static bool is_better(const char *device, const char *capability, const char *than,
		      const char *of_that)
{
	const struct msd_platform a = {"amd64", device, capability};
	const struct msd_platform b = {"amd64", than, of_that};

	return msd_platform_is_better(&a, &b);
}

Test(platform, of_another_architecture_does_not_suit)
{
	cr_assert_eq(
		msd_platform_fit(&machine, &(struct msd_platform){"arm64", "", ""}),
		MSD_PLATFORM_OTHER);
	cr_assert_eq(msd_platform_fit(&machine, &(struct msd_platform){"", "", ""}),
		     MSD_PLATFORM_OTHER);
	cr_assert_eq(msd_platform_fit(&machine, &(struct msd_platform){"any", "", ""}),
		     MSD_PLATFORM_SUITS);
}

Test(platform, without_a_device_or_with_the_cpu_suits_before_the_devices_are_known)
{
	machine.is_known = false;
	cr_assert_eq(fit("", ""), MSD_PLATFORM_SUITS);
	cr_assert_eq(fit("cpu", ""), MSD_PLATFORM_SUITS);
	cr_assert_eq(fit("cuda", ""), MSD_PLATFORM_UNKNOWN);
}

Test(platform, of_a_device_that_is_not_there_does_not_suit)
{
	add("opencl", "OpenCL 3.0 of somebody");
	cr_assert_eq(fit("opencl", ""), MSD_PLATFORM_SUITS);
	cr_assert_eq(fit("cuda", ""), MSD_PLATFORM_OTHER);
}

Test(platform, wants_a_device_that_is_at_least_as_capable)
{
	add("cuda", "9.0");
	cr_assert_eq(fit("cuda", "sm_80"), MSD_PLATFORM_SUITS);
	cr_assert_eq(fit("cuda", "sm_90"), MSD_PLATFORM_SUITS);
	cr_assert_eq(fit("cuda", "8.9"), MSD_PLATFORM_SUITS);
	cr_assert_eq(fit("cuda", "sm_100"), MSD_PLATFORM_OTHER);
	cr_assert_eq(fit("cuda", "good"), MSD_PLATFORM_OTHER);
}

Test(platform, with_a_letter_behind_it_wants_that_capability_alone)
{
	add("cuda", "10.0");
	cr_assert_eq(fit("cuda", "sm_90a"), MSD_PLATFORM_OTHER);
	cr_assert_eq(fit("cuda", "sm_100a"), MSD_PLATFORM_SUITS);
}

Test(platform, any_of_several_devices_will_do)
{
	add("cuda", "7.5");
	add("cuda", "8.6");
	cr_assert_eq(fit("cuda", "sm_80"), MSD_PLATFORM_SUITS);
}

Test(platform, reads_opencl_versions_as_they_stand_there)
{
	add("opencl", "OpenCL 1.2 of somebody");
	cr_assert_eq(fit("opencl", "OpenCL 1.2"), MSD_PLATFORM_SUITS);
	cr_assert_eq(fit("opencl", "2.0"), MSD_PLATFORM_OTHER);
}

Test(platform, with_a_device_of_its_own_is_better)
{
	cr_assert(is_better("cuda", "", "", ""));
	cr_assert(is_better("opencl", "", "cpu", ""));
	cr_assert_not(is_better("", "", "cuda", ""));
	cr_assert_not(is_better("", "", "cpu", ""));
}

Test(platform, that_needs_more_of_the_same_device_is_better)
{
	cr_assert(is_better("cuda", "sm_90", "cuda", "sm_80"));
	cr_assert(is_better("cuda", "sm_90a", "cuda", "sm_90"));
	cr_assert(is_better("cuda", "sm_80", "cuda", ""));
	cr_assert_not(is_better("cuda", "sm_80", "cuda", "8.0"));
	cr_assert_not(is_better("cuda", "sm_80", "opencl", "1.2"));
}

/* An answer to fetch.devices with @n devices. */
static msd_err read_devices(unsigned n)
{
	struct msd_unpack unpack = {0};
	struct msd_buf b = {0};

	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "devices");
	msd_pack_array(&b, n);
	for (unsigned i = 0; i < n; i++) {
		msd_pack_map(&b, 2);
		msd_pack_pair_str(&b, "device", "cuda:1");
		msd_pack_pair_str(&b, "capability", "9.0");
	}
	machine.is_known = false;
	const msd_err err =
		msd_platform_read(&unpack, (struct msd_span){b.p, b.n}, &machine, NULL);
	msd_unpack_finish(&unpack);
	msd_buf_finish(&b);
	return err;
}

Test(platform, is_known_from_the_devices_that_were_found)
{
	cr_assert_eq(read_devices(1), MSD_OK);
	cr_assert(machine.is_known);
	cr_assert_eq(fit("cuda", "sm_90"), MSD_PLATFORM_SUITS);
}

Test(platform, keeps_no_more_devices_than_it_has_room_for)
{
	cr_assert_eq(read_devices(3 * MSD_PLATFORM_DEVICES), MSD_OK);
	cr_assert_eq(machine.n_devices, MSD_PLATFORM_DEVICES);
}
