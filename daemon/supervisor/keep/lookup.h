#ifndef MSD_SUPERVISOR_LOOKUP_H
#define MSD_SUPERVISOR_LOOKUP_H
/* Look up content in the store, so that it need not be fetched or uploaded again. */
#include "daemon/supervisor/keep/keeper.h"
#include "proto/base/bytes.h"
#include "proto/limits.h"
#include "store/digest.h"
#include "store/record.h"

/* Embedded by the caller. */
struct msd_store_lookup {
	struct msd_keeper_job job; /* its err: MSD_OK, or why it is unavailable */
	struct msd_digest digest;
	bool is_name; /* the digest is a registry's name of an edition, not of a file */
	uint64_t max_bytes;
	/**
	 * True if the client may read the bytes of the module @name. Runs on the
	 * keeper's thread. Other modules do not exist for the client, except the
	 * module of the load. NULL: all modules are visible.
	 */
	bool (*may_have)(const void *asker, const char *name);
	const void *asker;
	const char *name; /* module of the load; NULL: look for files only */
	/*
	 * Look only for an edition of this module, by its manifest or its first file,
	 * and for no separate file. The texts below prove its signature to a checker.
	 */
	bool is_signed;
	/* This edition has the manifest: it is complete, and its bytes were not read.
	 * MSD_REF_COUNT: not found. */
	enum msd_ref ref;
	char from[MSD_MAX_NAME_BYTES + 1]; /* module of the edition */
	struct msd_digest edition;
	struct msd_buf manifest, signature; /* set for a signed edition; owner frees */
	bool is_manifest; /* the digest is that of an unavailable edition */
	/* The file found instead: a sealed memfd with its size; done() takes it. */
	int fd;
	uint64_t bytes;
};

/**
 * Look for an edition with that manifest, of the module or of another module.
 * Otherwise read and hash the stored file look->digest. @done is called with the
 * result, or with MSD_NOT_FOUND, MSD_BAD_ARTIFACT (damaged), MSD_TOO_LARGE,
 * MSD_NO_SPACE, MSD_IO. Manifests, signatures and self-tests of modules do not count
 * as files.
 */
void msd_store_lookup(struct msd_keeper *keeper, struct msd_store_lookup *look,
		      msd_keeper_call done);

#endif
