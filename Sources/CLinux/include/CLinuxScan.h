// Searches that the vector unit does sixteen bytes at a time. Swift 6.3 compiles comparisons of its SIMD types to
// loops over the lanes. Each returns the offset of the first byte found at or after `start`, or `count`.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool linux_is_control(uint8_t byte) { return (byte < 0x20 && byte != '\t') || byte == 0x7F; }
static inline bool linux_is_no_token(uint8_t byte) { return !linux_token_table[byte]; }
static inline bool linux_is_outside_target(uint8_t byte) { return byte <= 0x20 || byte >= 0x7F || byte == '#'; }
static inline bool linux_is_outside_host(uint8_t byte) {
    return (uint8_t)((byte | 0x20) - 'a') >= 26 && (uint8_t)(byte - '0') >= 10 && byte != '-' && byte != '.' &&
           byte != '_' && byte != '~';
}

#ifdef __SSE2__
#include <emmintrin.h>

/// 0xFF for each byte from `low` to `low + span`, compared as unsigned numbers.
static inline __m128i linux_between(__m128i bytes, char low, char span) {
    __m128i offset = _mm_sub_epi8(bytes, _mm_set1_epi8(low));
    return _mm_cmpeq_epi8(_mm_min_epu8(offset, _mm_set1_epi8(span)), offset);
}

static inline __m128i linux_letters(__m128i bytes) {
    return linux_between(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 25);
}

static inline __m128i linux_controls(__m128i bytes) {
    __m128i low = _mm_andnot_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')), linux_between(bytes, 0, 0x1F));
    return _mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F)));
}

/// Controls, tab included, and all that is not ASCII: as signed numbers, one more than each is at most 0x20.
static inline __m128i linux_unusual(__m128i bytes) {
    return _mm_cmplt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8(1)), _mm_set1_epi8(0x21));
}

/// The same and the space.
static inline __m128i linux_invisible(__m128i bytes) {
    return _mm_cmplt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8(1)), _mm_set1_epi8(0x22));
}

/// All but letters and the hyphen, which nearly every field name is made of: what it finds is looked at again.
static inline __m128i linux_no_tokens(__m128i bytes) {
    __m128i usual = _mm_or_si128(linux_letters(bytes), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
    return _mm_xor_si128(usual, _mm_set1_epi8(-1));
}

static inline __m128i linux_outside_target(__m128i bytes) {
    return _mm_or_si128(linux_invisible(bytes), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('#')));
}

/// `_` and `~` it finds too.
static inline __m128i linux_outside_host(__m128i bytes) {
    __m128i usual = _mm_or_si128(linux_letters(bytes), linux_between(bytes, '0', 9));
    return _mm_xor_si128(_mm_or_si128(usual, linux_between(bytes, '-', 1)), _mm_set1_epi8(-1));
}

// Whole blocks; then the last bytes together with some that come before them.
#define LINUX_SKIP(bytes, start, count, search)                                                                        \
    bool done = false;                                                                                                 \
    for (; start + 16 <= count; start += 16) {                                                                         \
        unsigned mask = (unsigned)_mm_movemask_epi8(search(_mm_loadu_si128((const __m128i *)(bytes + start))));        \
        if (mask == 0) continue;                                                                                       \
        start += (unsigned)__builtin_ctz(mask);                                                                        \
        done = true;                                                                                                   \
        break;                                                                                                         \
    }                                                                                                                  \
    if (!done && start < count && count >= 16) {                                                                       \
        const __m128i *last = (const __m128i *)(bytes + count - 16);                                                   \
        unsigned mask = (unsigned)_mm_movemask_epi8(search(_mm_loadu_si128(last))) >> (16 - (count - start));          \
        start = mask == 0 ? count : start + (unsigned)__builtin_ctz(mask);                                             \
    }
#else
#define LINUX_SKIP(bytes, start, count, search)
#endif

// The plain loop confirms what the blocks found, goes on where they found too much, and does all that is shorter.
#define LINUX_FIND(name, search, is)                                                                                   \
    static inline size_t name(const uint8_t *bytes, size_t start, size_t count) {                                      \
        LINUX_SKIP(bytes, start, count, search)                                                                        \
        while (start < count && !is(bytes[start])) start++;                                                            \
        return start;                                                                                                  \
    }

/// A control character other than tab: 0x00–0x1F and 0x7F.
LINUX_FIND(linux_find_control, linux_controls, linux_is_control)
/// A byte that a token may not hold.
LINUX_FIND(linux_find_token_end, linux_no_tokens, linux_is_no_token)
/// A byte that a request target may not hold: anything but visible ASCII, and `#`.
LINUX_FIND(linux_find_outside_target, linux_outside_target, linux_is_outside_target)
/// A byte that a host name may not hold: letters, digits, `-`, `.`, `_` and `~` it may.
LINUX_FIND(linux_find_host_end, linux_outside_host, linux_is_outside_host)

/// Where the dotted quad ends that begins at `start`, four decimal numbers below 256 without leading zeros; `start` when
/// there is none.
size_t linux_find_quad_end(const uint8_t *bytes, size_t start, size_t count);

/// Names to be recognised in either case, in one piece: `LINUX_NAME_SLOTS` bytes, of which `linux_name_slot` tells the
/// one with a name's row, then the rows of 32 bytes each, lower case and filled with zeros. A name is letters, digits and
/// hyphens, at most 31 of them; no two have both length and first letter in common, so that one comparison decides. The
/// first row is for what has no name.
enum { LINUX_NAME_SLOTS = 1024, LINUX_NAME_ROW = 32 };

static inline size_t linux_name_slot(uint8_t first, size_t length) { return length << 5 | (first & 0x1F); }

/// The row of the name that stands from `start` to `end`, all of it token bytes, or 0.
uint8_t linux_recognise(const uint8_t *names, const uint8_t *bytes, size_t start, size_t end);

/// A field line: offsets of `name` `:` `value` CR LF, the row of the name, and a mark for the caller's use.
struct linux_line {
    uint32_t start, name_end, value_start, value_end, end;
    uint8_t row;
    bool marked;
};

/// Field lines, with room for more, and the rows of their names, one bit each: of all, and of those that come again.
struct linux_lines {
    struct linux_line *lines;
    size_t filled, room;
    uint64_t present, repeated;
};

/// Adds the field lines that stand whole and faultless one behind the other from `start`, none that ends behind `limit`,
/// until the room is filled. Returns where the last of them ends. Less than 4 GiB of bytes.
size_t linux_read_lines(
    struct linux_lines *lines, const uint8_t *names, const uint8_t *bytes, size_t start, size_t count, size_t limit);
