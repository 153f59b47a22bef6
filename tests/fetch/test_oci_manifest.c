#include <criterion/criterion.h>
#include <string.h>

#include "daemon/fetch/registry/oci_manifest.h"

#define DIGEST "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define LAYER(more) "{\"digest\": \"sha256:" DIGEST "\", \"size\": 3" more "}"

static struct msd_platform_machine machine = {.arch = "amd64", .is_known = true};

static msd_err read_text(const char *text, size_t n, struct msd_oci_manifest *ret)
{
	return msd_oci_manifest_read((struct msd_span){(const uint8_t *)text, n},
				     &machine, ret, NULL);
}

static void expect_err(const char *text, msd_err err)
{
	struct msd_oci_manifest m = {0};

	cr_assert_eq(read_text(text, strlen(text), &m), err, "%s", text);
	msd_oci_manifest_finish(&m);
}

#define NO_BYTES "{\"digest\": \"sha256:" DIGEST "\", \"size\": 0}"
#define TITLED                                                                         \
	", \"mediaType\": \"x.tar+gzip\", \"annotations\": "                           \
	"{\"org.opencontainers.image.title\": \"a.onnx\"}"
#define WITH_PATH ", \"annotations\": {\"org.cncf.model.filepath\": \"b\"}"

Test(oci_manifest, lists_its_layers)
{
	static const char text[] = "{\"layers\": [" LAYER("") ", " NO_BYTES ", " LAYER(
		TITLED) ", " LAYER(WITH_PATH) "]}";
	char digest[MSD_DIGEST_TEXT];
	struct msd_oci_manifest m;

	cr_assert_eq(read_text(text, sizeof(text) - 1, &m), MSD_OK);
	cr_assert_not(m.is_index);
	cr_assert_eq(m.n_layers, 3); /* one is empty */
	msd_digest_format(&m.layers[0].blob.digest, digest);
	cr_assert_str_eq(digest, DIGEST);
	cr_assert_eq(m.layers[0].blob.bytes, 3);
	cr_assert_str_eq(m.layers[0].title, "");
	cr_assert_not(m.layers[0].may_be_archive);
	cr_assert_str_eq(m.layers[1].title, "a.onnx");
	cr_assert(m.layers[1].may_be_archive);
	cr_assert_str_eq(m.layers[2].title, "b");
	msd_oci_manifest_finish(&m);
}

Test(oci_manifest, with_a_modules_own_is_that_and_its_signature)
{
	static const char text[] = "{\"layers\": [" LAYER("") ", " LAYER(
		", \"mediaType\": \"" MSD_OCI_SIGNATURE_TYPE
		"\"") ", " LAYER(", \"mediaType\": \"" MSD_OCI_MANIFEST_TYPE "\"") "]}";
	struct msd_oci_manifest m;

	cr_assert_eq(read_text(text, sizeof(text) - 1, &m), MSD_OK);
	cr_assert(m.has_manifest);
	cr_assert(m.has_signature);
}

Test(oci_manifest, with_two_of_a_modules_own_is_refused)
{
	expect_err("{\"layers\": [" LAYER(
			   ", \"mediaType\": \"" MSD_OCI_MANIFEST_TYPE
			   "\"") ", " LAYER(", \"mediaType\": \"" MSD_OCI_MANIFEST_TYPE
					    "\"") "]}",
		   MSD_BAD_ARTIFACT);
}

Test(oci_manifest, no_part_of_one_is_one)
{
	static const char text[] = "{\"layers\": [" LAYER("") "]}";
	struct msd_oci_manifest m;

	for (size_t n = 0; n < sizeof(text) - 1; n++)
		cr_assert_eq(read_text(text, n, &m), MSD_BAD_ARTIFACT, "%zu", n);
}

Test(oci_manifest, without_layers_or_with_too_many_is_refused)
{
	struct msd_buf text = {0};
	struct msd_oci_manifest m;

	expect_err("{\"layers\": []}", MSD_BAD_ARTIFACT);
	expect_err("{\"layers\": [" LAYER("") ", 7]}", MSD_BAD_ARTIFACT);
	msd_buf_printf(&text, "{\"layers\": [" LAYER(""));
	for (unsigned i = 0; i < MSD_OCI_LAYERS; i++)
		msd_buf_printf(&text, ", " LAYER(""));
	msd_buf_printf(&text, "]}");
	cr_assert_eq(read_text((const char *)text.p, text.n, &m), MSD_BAD_ARTIFACT);
	msd_buf_finish(&text);
}

Test(oci_manifest, of_an_index_needs_the_architecture)
{
	expect_err("{\"manifests\": [" LAYER(", \"platform\": {\"architecture\": "
					     "\"amd64\"}") "]}",
		   MSD_OK);
	expect_err("{\"manifests\": [" LAYER(", \"platform\": {\"architecture\": "
					     "\"arm64\"}") "]}",
		   MSD_UNSUPPORTED);
	expect_err("{\"manifests\": [" LAYER("") "]}", MSD_UNSUPPORTED);
}

#define OTHER "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define AMD64 "\"platform\": {\"architecture\": \"amd64\"}"
#define FOR_CUDA(capability)                                                           \
	"\"annotations\": {\"" MSD_OCI_DEVICE "\": \"cuda\", \"" MSD_OCI_CAPABILITY    \
	"\": \"" capability "\"}"
#define ENTRY(digest, more)                                                            \
	"{\"digest\": \"sha256:" digest "\", \"size\": 3, " AMD64 more "}"

/* The one of @text that is chosen. */
static void expect_chosen(const char *text, const char *expected)
{
	struct msd_oci_manifest m;
	char digest[MSD_DIGEST_TEXT];

	cr_assert_eq(read_text(text, strlen(text), &m), MSD_OK);
	cr_assert(m.is_index);
	cr_assert_not(m.needs_devices);
	msd_digest_format(&m.blob.digest, digest);
	cr_assert_str_eq(digest, expected);
}

Test(oci_manifest, of_an_index_is_the_best_one_for_the_devices)
{
	static const char text[] = "{\"manifests\": [" ENTRY(OTHER, "") ", " ENTRY(
		DIGEST, ", " FOR_CUDA("sm_80")) "]}";

	expect_chosen(text, OTHER);
	machine.n_devices = 1;
	machine.devices[0] = (struct msd_platform_device){"cuda", "9.0"};
	expect_chosen(text, DIGEST);
}

Test(oci_manifest, of_an_index_with_equals_is_the_first)
{
	expect_chosen("{\"manifests\": [" ENTRY(DIGEST, "") ", " ENTRY(OTHER, "") "]}",
		      DIGEST);
}

Test(oci_manifest, of_an_index_may_depend_on_devices_that_are_not_known)
{
	static const char text[] = "{\"manifests\": [" ENTRY(OTHER, "") ", " ENTRY(
		DIGEST, ", " FOR_CUDA("sm_80")) "]}";
	struct msd_oci_manifest m;

	machine.is_known = false;
	cr_assert_eq(read_text(text, sizeof(text) - 1, &m), MSD_OK);
	cr_assert(m.needs_devices);
}

Test(oci_manifest, without_digest_or_size_is_refused)
{
	expect_err("{\"layers\": [{\"digest\": \"md5:1\", \"size\": 3}]}",
		   MSD_BAD_ARTIFACT);
	expect_err("{\"layers\": [{\"digest\": \"" DIGEST "\", \"size\": 3}]}",
		   MSD_BAD_ARTIFACT);
	expect_err("{\"layers\": [{\"digest\": \"sha256:" DIGEST "\", \"size\": -3}]}",
		   MSD_BAD_ARTIFACT);
	expect_err("{\"layers\": [7]}", MSD_BAD_ARTIFACT);
}
