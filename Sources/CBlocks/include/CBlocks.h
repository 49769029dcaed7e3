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
/// Has the calling thread use blocks. For threads that live as long as the process.
void blocks_keep(void);
