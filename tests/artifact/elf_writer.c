#include "tests/artifact/elf_writer.h"

#include <elf.h>
#include <string.h>

#define HEAD_BYTES (64u + 2u * 56u)

struct parts {
	struct bw symtab, strtab, hash, dynamic;
	size_t symtab_at, strtab_at, hash_at, dynamic_at, blob_at, sections_at, end;
	size_t n_syms; /* with the reserved first one */
	size_t n_undefined;
};

static uint32_t add_string(struct bw *strtab, const char *text)
{
	uint32_t at = (uint32_t)strtab->n;

	bw_raw(strtab, text, strlen(text) + 1);
	return at;
}

static void put_symbol(struct parts *p, const struct ew_lib *lib,
		       const struct ew_sym *sym)
{
	bool undefined = sym->what == 'U' || sym->what == 'W';
	bool blob = sym->what == 'B';
	uint8_t type = sym->what == 'F' ? STT_FUNC
		       : undefined      ? STT_NOTYPE
					: STT_OBJECT;
	uint8_t bind = sym->what == 'W' ? STB_WEAK : STB_GLOBAL;

	bw_u32(&p->symtab, add_string(&p->strtab, sym->name));
	bw_u8(&p->symtab, (uint8_t)(bind << 4 | type));
	bw_u8(&p->symtab, 0);
	bw_u16(&p->symtab, undefined ? SHN_UNDEF : 1);
	bw_u64(&p->symtab, undefined ? 0 : blob ? p->blob_at : HEAD_BYTES);
	bw_u64(&p->symtab, blob ? lib->blob->n : undefined ? 0 : 8);
}

static void put_symbols(struct parts *p, const struct ew_lib *lib)
{
	p->symtab.n = 0;
	p->strtab.n = 0;
	p->n_syms = 1;
	p->n_undefined = 0;
	bw_u8(&p->strtab, 0);
	for (int i = 0; i < 24; i++)
		bw_u8(&p->symtab, 0);
	for (size_t i = 0; i < 16 && lib->syms[i].name != NULL; i++) {
		put_symbol(p, lib, &lib->syms[i]);
		p->n_syms++;
		p->n_undefined += lib->syms[i].what == 'U' || lib->syms[i].what == 'W';
	}
}

/* Only the shape of the table matters here, for nobody looks names up in it. */
static void put_hash(struct parts *p, const struct ew_lib *lib)
{
	if (lib->hash == EW_SYSV) {
		bw_u32(&p->hash, 1);
		bw_u32(&p->hash, (uint32_t)p->n_syms);
		for (size_t i = 0; i < p->n_syms + 1; i++)
			bw_u32(&p->hash, 0);
	} else if (lib->hash == EW_GNU) {
		uint32_t first = (uint32_t)p->n_undefined + 1;

		bw_u32(&p->hash, 1); /* buckets */
		bw_u32(&p->hash, first);
		bw_u32(&p->hash, 1); /* words of the bloom filter */
		bw_u32(&p->hash, 0);
		bw_u64(&p->hash, ~0ull);
		bw_u32(&p->hash, first < p->n_syms ? first : 0);
		for (size_t i = first; i < p->n_syms; i++)
			bw_u32(&p->hash, i + 1 == p->n_syms ? 1 : 0);
	}
}

static void put_dyn(struct parts *p, int64_t tag, uint64_t value)
{
	bw_u64(&p->dynamic, (uint64_t)tag);
	bw_u64(&p->dynamic, value);
}

static void put_dynamic(struct parts *p, const struct ew_lib *lib)
{
	p->dynamic.n = 0;
	for (size_t i = 0; i < 4 && lib->needed[i] != NULL; i++)
		put_dyn(p, DT_NEEDED, add_string(&p->strtab, lib->needed[i]));
	if (lib->runpath != NULL)
		put_dyn(p, DT_RUNPATH, add_string(&p->strtab, lib->runpath));
	if (lib->hash != EW_SECTIONS_ONLY)
		put_dyn(p, lib->hash == EW_SYSV ? DT_HASH : DT_GNU_HASH, p->hash_at);
	put_dyn(p, DT_SYMTAB, p->symtab_at);
	put_dyn(p, DT_STRTAB, p->strtab_at);
	put_dyn(p, DT_STRSZ, p->strtab.n);
	put_dyn(p, DT_NULL, 0);
}

static void place(struct parts *p, const struct ew_lib *lib)
{
	p->symtab_at = HEAD_BYTES;
	p->hash_at = p->symtab_at + p->symtab.n;
	p->dynamic_at = p->hash_at + p->hash.n;
	p->strtab_at = p->dynamic_at + p->dynamic.n;
	p->blob_at = p->strtab_at + p->strtab.n;
	p->sections_at = p->blob_at + (lib->blob != NULL ? lib->blob->n : 0);
	p->end = p->sections_at + (lib->hash == EW_SECTIONS_ONLY ? 64 : 0);
}

static void put_head(struct bw *b, const struct parts *p, const struct ew_lib *lib)
{
	bool has_sections = lib->hash == EW_SECTIONS_ONLY;
	static const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

	bw_raw(b, ident, sizeof(ident));
	bw_u16(b, ET_DYN);
	bw_u16(b, lib->machine);
	bw_u32(b, 1);
	bw_u64(b, 0);
	bw_u64(b, 64); /* program headers */
	bw_u64(b, has_sections ? p->sections_at : 0);
	bw_u32(b, 0);
	bw_u16(b, 64);
	bw_u16(b, 56);
	bw_u16(b, 2);
	bw_u16(b, 64);
	bw_u16(b, has_sections ? 1 : 0);
	bw_u16(b, 0);
}

static void put_phdr(struct bw *b, uint32_t type, uint64_t at, uint64_t n)
{
	bw_u32(b, type);
	bw_u32(b, PF_R);
	bw_u64(b, at);
	bw_u64(b, at); /* address is offset */
	bw_u64(b, at);
	bw_u64(b, n);
	bw_u64(b, n);
	bw_u64(b, 1);
}

static void put_dynsym_section(struct bw *b, const struct parts *p)
{
	bw_u32(b, 0);
	bw_u32(b, SHT_DYNSYM);
	bw_u64(b, SHF_ALLOC);
	bw_u64(b, p->symtab_at);
	bw_u64(b, p->symtab_at);
	bw_u64(b, p->symtab.n);
	bw_u64(b, 0);
	bw_u64(b, 8);
	bw_u64(b, 24);
}

void ew_write(struct bw *b, const struct ew_lib *lib)
{
	struct parts p = {0};

	put_symbols(&p, lib);
	put_hash(&p, lib);
	for (int pass = 0; pass < 2; pass++) { /* sizes first, then addresses */
		put_symbols(&p, lib);
		put_dynamic(&p, lib);
		place(&p, lib);
	}
	put_symbols(&p, lib);
	put_dynamic(&p, lib);
	put_head(b, &p, lib);
	put_phdr(b, PT_LOAD, 0, p.end);
	put_phdr(b, PT_DYNAMIC, p.dynamic_at, p.dynamic.n);
	bw_raw(b, p.symtab.p, p.symtab.n);
	bw_raw(b, p.hash.p, p.hash.n);
	bw_raw(b, p.dynamic.p, p.dynamic.n);
	bw_raw(b, p.strtab.p, p.strtab.n);
	if (lib->blob != NULL)
		bw_raw(b, lib->blob->p, lib->blob->n);
	if (lib->hash == EW_SECTIONS_ONLY)
		put_dynsym_section(b, &p);
	bw_free(&p.symtab);
	bw_free(&p.strtab);
	bw_free(&p.hash);
	bw_free(&p.dynamic);
}
