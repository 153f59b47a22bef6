#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/artifact/sha256.h"

static void expect_hash(const char *text, const char *hash)
{
	char got[MSD_SHA256_TEXT];

	msd_sha256((struct msd_span){(const uint8_t *)text, strlen(text)}, got);
	cr_expect_str_eq(got, hash);
}

/* The examples of FIPS 180-4, and the sizes at which padding changes. */
Test(sha256, gives_the_standards_hashes)
{
	expect_hash("",
		    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	expect_hash("abc",
		    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	expect_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

Test(sha256, pads_every_length)
{
	static const struct {
		size_t n;
		const char *hash;
	} rows[] = {
		{55,
		 "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
		{56,
		 "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
		{63,
		 "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
		{64,
		 "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
		{65,
		 "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
		{119,
		 "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
		{120,
		 "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
		{1000000,
		 "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};
	char *text = calloc(1, 1000001);

	cr_assert_not_null(text);
	memset(text, 'a', 1000000);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char kept = text[rows[i].n];
		text[rows[i].n] = '\0';
		expect_hash(text, rows[i].hash);
		text[rows[i].n] = kept;
	}
	free(text);
}
