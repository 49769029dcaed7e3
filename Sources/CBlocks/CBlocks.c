#define _GNU_SOURCE
#include "CBlocks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Blocks lie one behind the other in a range of addresses of their own. The smallest size is that of the buffers for a head
// or a record, the largest that of OpenSSL's for a message of a handshake.
enum {
    smallest = 16 * 1024,
    block_size = 24 * 1024,
    /// The place of the memory within its block differs from block to block, by lines of the cache. If all began at a page, the
    /// first lines of hundreds of buffers would share a few sets of the cache, and push each other out.
    line = 64,
    colours = 32,
    largest = block_size - colours * line,
    block_count = 16 * 1024,
    /// Blocks that are made usable at once.
    step = 64,
    /// Free blocks that a thread keeps with their memory.
    kept_count = 16,
};

static const size_t range_size = (size_t)block_size * block_count;

/// Its first address; NULL before `blocks_keep`, and where the system gave no range.
static _Atomic(char *) range;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/// The free blocks that have no memory: the number of the first, from 1, and behind each that of the next; 0 ends the list.
static uint16_t first_free;
static uint16_t next_free[block_count];
/// How many blocks were ever given out.
static int made;

static __thread bool keeps;
static __thread int kept;
static __thread void *kept_blocks[kept_count];

_Static_assert(block_count <= UINT16_MAX, "a block's number fits in its list");
_Static_assert(largest >= 22 * 1024, "OpenSSL's memory for a message of a handshake fits");

// Where a page does not fit in a block, giving one back would take memory of its neighbour.
static void reserve_range(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    // It watches what malloc gives.
    return;
#endif
#endif
    if (block_size % sysconf(_SC_PAGESIZE) != 0) return;
    void *start = mmap(NULL, range_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return;
    // A huge page would have memory for 85 blocks of which one is used.
    (void)madvise(start, range_size, MADV_NOHUGEPAGE);
    atomic_store_explicit(&range, start, memory_order_release);
}

void blocks_keep(void) {
    pthread_once(&once, reserve_range);
    keeps = atomic_load_explicit(&range, memory_order_acquire) != NULL;
}

static bool is_block(const void *memory) {
    const char *start = atomic_load_explicit(&range, memory_order_relaxed);
    return start != NULL && (size_t)((const char *)memory - start) < range_size;
}

static bool fits(size_t size) { return size >= smallest && size <= largest; }

static char *memory_of(char *start, int place) {
    return start + (size_t)place * block_size + (size_t)(place % colours) * line;
}

static void *take_shared(void) {
    char *start = atomic_load_explicit(&range, memory_order_relaxed);
    void *block = NULL;
    pthread_mutex_lock(&lock);
    if (first_free != 0) {
        int place = first_free - 1;
        first_free = next_free[place];
        block = memory_of(start, place);
    } else if (made < block_count) {
        char *fresh = start + (size_t)made * block_size;
        bool isUsable = made % step != 0 || mprotect(fresh, (size_t)step * block_size, PROT_READ | PROT_WRITE) == 0;
        if (isUsable) {
            block = memory_of(start, made);
            made++;
        }
    }
    pthread_mutex_unlock(&lock);
    return block;
}

static void give_block(void *block) {
    if (keeps && kept < kept_count) {
        kept_blocks[kept++] = block;
        return;
    }
    char *start = atomic_load_explicit(&range, memory_order_relaxed);
    int place = (int)((size_t)((char *)block - start) / block_size);
    (void)madvise(start + (size_t)place * block_size, block_size, MADV_DONTNEED);
    pthread_mutex_lock(&lock);
    next_free[place] = first_free;
    first_free = (uint16_t)(place + 1);
    pthread_mutex_unlock(&lock);
}

void *blocks_allocate(size_t size) {
    if (keeps && fits(size)) {
        void *block = kept > 0 ? kept_blocks[--kept] : take_shared();
        if (block != NULL) return block;
    }
    return size == 0 ? NULL : malloc(size);
}

void blocks_free(void *memory) {
    if (is_block(memory)) {
        give_block(memory);
    } else {
        free(memory);
    }
}

void *blocks_reallocate(void *memory, size_t size) {
    if (memory == NULL) return blocks_allocate(size);
    if (size == 0) {
        blocks_free(memory);
        return NULL;
    }
    if (!is_block(memory)) return realloc(memory, size);
    if (fits(size)) return memory;
    void *moved = malloc(size);
    if (moved == NULL) return NULL;
    memcpy(moved, memory, size < largest ? size : largest);
    give_block(memory);
    return moved;
}

void *blocks_demand(size_t size) {
    void *memory = blocks_allocate(size);
    if (memory == NULL) abort();
    return memory;
}

// Pieces. The sizes of a class lie within one step. Each piece has its class in front of it.
enum {
    piece_step = 32,
    piece_classes = 32,
    /// The limit of all free pieces that a thread keeps, in bytes.
    kept_bytes_limit = 512 * 1024,
};

/// What precedes a piece. Its size keeps the piece aligned as malloc(3) aligns.
struct piece {
    _Alignas(16) size_t class;
};

/// A piece that is free: behind its class lies the next one.
struct free_piece {
    struct piece head;
    struct free_piece *next;
};

static __thread struct free_piece *free_pieces[piece_classes];
static __thread size_t kept_bytes;

static size_t bytes_of_class(size_t class) { return sizeof(struct piece) + (class + 1) * piece_step; }

void *pieces_allocate(size_t size) {
    if (size > SIZE_MAX - 2 * piece_step) return NULL;
    size_t class = size == 0 ? 0 : (size - 1) / piece_step;
    struct piece *piece;
    if (class < piece_classes && free_pieces[class] != NULL) {
        piece = &free_pieces[class]->head;
        free_pieces[class] = free_pieces[class]->next;
        kept_bytes -= bytes_of_class(class);
    } else {
        piece = malloc(bytes_of_class(class));
        if (piece == NULL) return NULL;
        piece->class = class;
    }
    return piece + 1;
}

void *pieces_allocate_zeroed(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    void *memory = pieces_allocate(bytes);
    if (memory != NULL) memset(memory, 0, bytes);
    return memory;
}

void pieces_free(void *memory) {
    if (memory == NULL) return;
    struct free_piece *piece = (struct free_piece *)((struct piece *)memory - 1);
    size_t class = piece->head.class;
    if (!keeps || class >= piece_classes || kept_bytes + bytes_of_class(class) > kept_bytes_limit) {
        free(piece);
        return;
    }
    piece->next = free_pieces[class];
    free_pieces[class] = piece;
    kept_bytes += bytes_of_class(class);
}

void *pieces_reallocate(void *memory, size_t size) {
    if (memory == NULL) return pieces_allocate(size);
    size_t held = (((struct piece *)memory - 1)->class + 1) * piece_step;
    if (size <= held && size > held / 2) return memory;
    void *moved = pieces_allocate(size);
    if (moved == NULL) return NULL;
    memcpy(moved, memory, size < held ? size : held);
    pieces_free(memory);
    return moved;
}
