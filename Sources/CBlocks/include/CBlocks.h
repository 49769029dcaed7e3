// Memory for the buffers that many connections need at once, and then none of them.
#pragma once
#include <stddef.h>

/// Memory as of malloc(3), to be given back by `blocks_free` on any thread; NULL for no bytes. On a thread that has called
/// `blocks_keep`, 16 to 24 KiB have pages of their own. In the heap they would lie between what stays, and be resident for good.
/// A page is resident once it was written to. The thread keeps a few for the next time, and returns the others to the system.
void *_Nullable blocks_allocate(size_t size);
/// Memory as of realloc(3).
void *_Nullable blocks_reallocate(void *_Nullable memory, size_t size);
void blocks_free(void *_Nullable memory);
/// Memory as `blocks_allocate` gives it, of one byte at least; without memory the process ends.
void *_Nonnull blocks_demand(size_t size);
/// Has the calling thread use blocks, and keep pieces. For threads that live as long as the process.
void blocks_keep(void);

/// Memory as of malloc(3), for a library that takes and gives back the same small sizes for each request. It must be given back by
/// `pieces_free`, on any thread. A thread that has called `blocks_keep` keeps up to 512 KiB of it for the next time.
void *_Nullable pieces_allocate(size_t size);
/// Memory as of calloc(3).
void *_Nullable pieces_allocate_zeroed(size_t count, size_t size);
/// Memory as of realloc(3).
void *_Nullable pieces_reallocate(void *_Nullable memory, size_t size);
void pieces_free(void *_Nullable memory);
