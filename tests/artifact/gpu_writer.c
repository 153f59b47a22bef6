#include "tests/artifact/gpu_writer.h"

#include <string.h>

#define HEADER_BYTES 64u
#define SECTION_BYTES 64u

const char gw_ptx[] = "// .version 1.0\n"
		      ".version 7.8\n"
		      ".target sm_80, texmode_independent\n"
		      ".address_size 64\n"
		      ".shared .align 4 .b8 outer[512];\n"
		      ".extern .shared .align 16 .b8 dyn[];\n"
		      "/* .entry none() */\n"
		      ".visible .entry k(\n"
		      "\t.param .u64 .ptr .global .align 4 k_param_0,\n"
		      "\t.param .align 8 .b8 k_param_1[16],\n"
		      "\t.param .u32 k_param_2\n"
		      ")\n"
		      ".reqntid 32, 4\n"
		      ".minnctapersm 2\n"
		      "{\n"
		      "\t.shared .align 16 .v4 .f32 inner[2][8];\n"
		      "\t.local .align 8 .b8 __local_depot0[24];\n"
		      "\tmov.u32 %r1, outer;\n"
		      "\t{ ld.shared.u32 %r2, [dyn+outer]; }\n"
		      "}\n"
		      ".entry empty()\n"
		      "{\n"
		      "\tret;\n"
		      "}\n";

static void section(struct bw *b, uint32_t name, uint32_t type, uint64_t offset,
		    uint64_t bytes, uint32_t link, uint32_t info)
{
	bw_u32(b, name);
	bw_u32(b, type);
	bw_u64(b, 0);
	bw_u64(b, 0);
	bw_u64(b, offset);
	bw_u64(b, bytes);
	bw_u32(b, link);
	bw_u32(b, info);
	bw_u64(b, 1);
	bw_u64(b, 0);
}

/* Offset of @text among names that are separated by NULs. */
static uint32_t name_at(const char *names, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i += strlen(names + i) + 1) {
		if (strcmp(names + i, text) == 0)
			return (uint32_t)i;
	}
	return 0;
}

static void sized(struct bw *b, uint8_t attribute, uint16_t bytes)
{
	bw_u8(b, 4);
	bw_u8(b, attribute);
	bw_u16(b, bytes);
}

static void pair(struct bw *b, uint8_t attribute, uint32_t symbol, uint32_t value)
{
	sized(b, attribute, 8);
	bw_u32(b, symbol);
	bw_u32(b, value);
}

static void own_attributes(struct bw *b)
{
	bw_u8(b, 2); /* one of a kind that says nothing here */
	bw_u8(b, 0x4c);
	bw_u16(b, 1);
	bw_u8(b, 3);
	bw_u8(b, 0x19); /* bytes of parameters */
	bw_u16(b, 16);
	for (uint16_t i = 0; i < 2; i++) { /* parameters */
		sized(b, 0x17, 12);
		bw_u32(b, 0);
		bw_u16(b, i);
		bw_u16(b, (uint16_t)(8 * i));
		bw_u32(b, 0x0021f000);
	}
	sized(b, 0x05, 12); /* threads at most */
	bw_u32(b, 128);
	bw_u32(b, 1);
	bw_u32(b, 1);
}

static void header(struct bw *b, enum gw_layout layout, uint64_t sections, uint16_t n)
{
	const uint8_t is_new = layout >= GW_NEW;
	const uint8_t ident[16] = {
		0x7f, 'E', 'L', 'F', 2, 1, 1, is_new ? 41 : 51, is_new ? 8 : 7};

	bw_raw(b, ident, sizeof(ident));
	bw_u16(b, 2);
	bw_u16(b, 190);
	bw_u32(b, 1);
	bw_u64(b, 0);
	bw_u64(b, 0);
	bw_u64(b, sections);
	bw_u32(b, is_new ? 0x6005a04 : 0x460546 | (layout == GW_OLD_A ? 0x800u : 0u));
	bw_u16(b, HEADER_BYTES);
	bw_u16(b, 0);
	bw_u16(b, 0);
	bw_u16(b, SECTION_BYTES);
	bw_u16(b, n);
	bw_u16(b, 1);
}

void gw_cubin(struct bw *b, enum gw_layout layout)
{
	static const char names[] =
		"\0.shstrtab\0.symtab\0.nv.info\0.nv.info.k\0.text.k\0"
		".nv.shared.k\0.nv.shared.reserved.0\0"
		".nv.constant0.k\0.note.nv.tkinfo";
	static const char strings[] = "\0k";
	const bool is_new = layout >= GW_NEW;
	const char *note = layout == GW_NEW_A ? "\0-arch sm_90a -m 64" : "\0-m 64";
	const size_t n_note = 1 + strlen(note + 1);
	struct bw common = {0};
	struct bw own = {0};
	uint64_t at[8];

	pair(&common, 0x2f, 1, 24);
	pair(&common, 0x11, 1, 40);
	pair(&common, 0x2f, 77, 99); /* of a symbol that is not there */
	own_attributes(&own);
	at[0] = HEADER_BYTES;
	at[1] = at[0] + sizeof(names);
	at[2] = at[1] + sizeof(strings);
	at[3] = at[2] + 48;
	at[4] = at[3] + common.n;
	at[5] = at[4] + own.n;
	at[6] = at[5] + n_note;
	at[7] = at[6] + 16;
	header(b, layout, at[7], 11);
	bw_raw(b, names, sizeof(names));
	bw_raw(b, strings, sizeof(strings));
	for (unsigned i = 0; i < 2; i++) { /* symbols */
		bw_u32(b, i);
		bw_u32(b, i * 0x90012u);
		bw_u64(b, 0);
		bw_u64(b, 16);
	}
	bw_raw(b, common.p, common.n);
	bw_raw(b, own.p, own.n);
	bw_raw(b, note, n_note);
	bw_raw(b, "sixteen of code.", 16);
#define NAME(text) name_at(names, sizeof(names), text)
	section(b, 0, 0, 0, 0, 0, 0);
	section(b, NAME(".shstrtab"), 3, at[0], sizeof(names), 0, 0);
	section(b, 0, 3, at[1], sizeof(strings), 0, 0);
	section(b, NAME(".symtab"), 2, at[2], 48, 2, 1);
	section(b, NAME(".nv.info"), 0x70000000, at[3], common.n, 3, 0);
	section(b, NAME(".nv.info.k"), 0x70000000, at[4], own.n, 3, 7);
	section(b, NAME(".note.nv.tkinfo"), 7, at[5], n_note, 0, 0);
	section(b, NAME(".text.k"), 1, at[6], 16, 3, is_new ? 1 : 24u << 24 | 1);
	section(b, NAME(".nv.shared.k"), 8, 0, is_new ? 1280 : 256, 0, 7);
	section(b, is_new ? NAME(".nv.shared.reserved.0") : 0, 8, 0, 0, 0, 0);
	section(b, NAME(".nv.constant0.k"), 8, 0, 368, 0, 7);
#undef NAME
	bw_free(&common);
	bw_free(&own);
}

static void member(struct bw *b, uint16_t kind, uint32_t sm, uint64_t flags,
		   const void *data, size_t n)
{
	bw_u16(b, kind);
	bw_u16(b, 0x101);
	bw_u32(b, 72);
	bw_u64(b, n);
	bw_u32(b, 0);
	bw_u32(b, 0);
	bw_u16(b, 4);
	bw_u16(b, 8);
	bw_u32(b, sm);
	bw_u32(b, 0);
	bw_u32(b, 0);
	bw_u64(b, flags);
	bw_u64(b, 0);
	bw_u64(b, 0);
	bw_u64(b, 0); /* of a longer header */
	bw_raw(b, data, n);
}

void gw_fatbin(struct bw *b)
{
	struct bw members = {0};
	struct bw cubin = {0};

	gw_cubin(&cubin, GW_OLD);
	member(&members, 2, 70, 0x11, cubin.p, cubin.n);
	member(&members, 1, 80, 0x11, gw_ptx, strlen(gw_ptx) + 1);
	member(&members, 1, 100, 0x108011, "packed", 6);
	bw_u32(b, 0xBA55ED50u);
	bw_u16(b, 1);
	bw_u16(b, 16);
	bw_u64(b, members.n);
	bw_raw(b, members.p, members.n);
	bw_free(&members);
	bw_free(&cubin);
}
